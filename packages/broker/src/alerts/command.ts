/**
 * Tells by a command of one's own: a program and its arguments, never a line for a shell. It reads the alert as JSON from
 * its standard input, and finds the most needed of it in its environment.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { checkOptionNames, startTimeLimit, visible } from '@owner-sso/core'
import { longestTimer, requireNumber, requireOption, requirePath } from '../given/given.ts'
import { type Alert, type AlertChannel, alertBody } from './alert.ts'

/** A program that is told. */
export interface CommandOptions {
  /** The program, and its arguments as they are. */
  readonly command: readonly [string, ...string[]]
  /** Milliseconds after which it is killed, with all that it started; default 30,000. */
  readonly timeout?: number
}

/** What a program needs of the system. Nothing else: the broker's own variables hold keys and passwords. */
const passedOn = ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'SystemRoot']

/**
 * Tells an alert to a program, on its standard input.
 *
 * @throws TypeError that names a wrong option
 */
export function commandAlert(options: CommandOptions): AlertChannel {
  checkOptionNames('commandAlert', options, { command: true, timeout: true })
  const { command, timeout = 30_000 } = options
  const isList = Array.isArray(command) && command.every((word) => typeof word === 'string') && Boolean(command[0])
  requireOption(isList, "command of an alert must be a list such as ['program', 'argument']", command)
  requirePath('command of an alert', command[0])
  requireNumber('timeout', timeout, 'milliseconds above 0', 1, longestTimer)
  const [program, ...args] = command
  return {
    name: 'command',
    async tell(alert) {
      // A group of its own, so that what it started ends with it.
      const child = spawn(program, args, {
        detached: process.platform !== 'win32',
        stdio: ['pipe', 'ignore', 'ignore'],
        env: environmentFor(alert),
      })
      let isLate = false
      const endLimit = startTimeLimit(timeout, () => {
        isLate = true
        kill(child.pid)
      })
      // One that does not read is no failure.
      child.stdin.on('error', () => undefined).end(alertBody(alert))
      try {
        const [code]: unknown[] = await once(child, 'exit')
        if (isLate) throw new Error(`The command did not end within ${timeout} ms.`)
        if (code !== 0) throw new Error(`The command ended with code ${String(code)}.`)
      } finally {
        endLimit()
      }
    },
  }
}

function environmentFor({ type, account, reason, signInUrl }: Alert): NodeJS.ProcessEnv {
  return {
    // What is undefined is left out.
    ...Object.fromEntries(passedOn.map((name) => [name, process.env[name]])),
    ALERT_TYPE: type,
    // A variable can't hold every character, and scripts print it. The JSON has the name as it is.
    ALERT_ACCOUNT: visible(account),
    ALERT_REASON: reason,
    ALERT_SIGN_IN_URL: signInUrl,
  }
}

function kill(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL')
  } catch {
    // It has just ended.
  }
}
