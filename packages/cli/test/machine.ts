/**
 * A user's machine for one test: a home of its own, the packed command in it, and the emulator in reach.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Emulator } from '@owner-sso/emulator'
import { afterEach, beforeEach } from '@jest/globals'

/** The packed command. */
export const command: string = fileURLToPath(new URL('../test-artefacts/package/dist/main.cjs', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface CallOptions {
  readonly env?: NodeJS.ProcessEnv
  /** What standard input holds; without it, it is closed. */
  readonly input?: string | Buffer
  /** Seconds that the command's clock is ahead. */
  readonly ahead?: number
  /** A descriptor that standard output goes to. Without it, it is read. */
  readonly stdout?: number
}

export interface Machine {
  readonly home: string
  readonly env: NodeJS.ProcessEnv
  /** Where the default store lies. */
  readonly tokensFolder: string
  /** Writes a file that only the user can read. */
  readonly file: (name: string, content: string) => string
  readonly start: (args: readonly string[], options?: CallOptions) => ChildProcess
  readonly run: (args: readonly string[], options?: CallOptions) => Promise<Ended>
  /** Ended, should it still run, when the machine is removed. */
  readonly own: <Child extends ChildProcess>(child: Child) => Child
  /** Signs a demo account in. */
  readonly signIn: (account: string, options?: CallOptions) => Promise<Ended>
  readonly remove: () => void
}

export const credential = 'correct horse'

/** A new machine for each test of the file. It may be looked at in tests and hooks alone. */
export function useMachine(emulator: Emulator): Machine {
  const machine: Machine = Object.create(null)
  beforeEach(() => void Object.assign(machine, newMachine(emulator)))
  afterEach(() => machine.remove())
  return machine
}

export function newMachine(emulator: Emulator): Machine {
  const home = mkdtempSync(join(tmpdir(), 'owner-sso-cli-'))
  const env: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'],
    HOME: home,
    OWNER_SSO_AUTH_URL: emulator.authUrl,
    OWNER_SSO_REGIONAL_AUTH_URLS: emulator.regionalAuthUrl,
    OWNER_SSO_API_URL: emulator.ownerApiUrl,
    // That of whoever runs the tests.
    OWNER_SSO_KEYRING: 'off',
  }
  const file = (name: string, content: string): string => {
    writeFileSync(join(home, name), content, { mode: 0o600 })
    return join(home, name)
  }
  const children: ChildProcess[] = []
  const own: Machine['own'] = (child) => {
    children.push(child)
    return child
  }
  const start: Machine['start'] = (args, options = {}) =>
    own(
      spawn(process.execPath, [command, ...args], {
        cwd: home,
        env: { ...env, ...aheadOf(options.ahead), ...options.env },
        stdio: [options.input === undefined ? 'ignore' : 'pipe', options.stdout ?? 'pipe', 'pipe'],
      }),
    )
  const run: Machine['run'] = (args, options = {}) => {
    const child = start(args, options)
    child.stdin?.end(options.input)
    return ended(child)
  }
  return {
    home,
    env,
    tokensFolder: join(home, '.config', 'owner-sso', 'tokens'),
    file,
    start,
    run,
    own,
    signIn: (account, options = {}) =>
      run(['login', '--account', account], { ...options, env: { OWNER_SSO_CREDENTIAL: credential, ...options.env } }),
    remove: () => {
      for (const child of children) child.kill('SIGKILL')
      rmSync(home, { recursive: true, force: true })
    },
  }
}

/** All that a child process says, and how it ends. */
export function ended(child: ChildProcess): Promise<Ended> {
  let [stdout, stderr] = ['', '']
  child.stdout?.on('data', (chunk) => (stdout += chunk))
  child.stderr?.on('data', (chunk) => (stderr += chunk))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, stdout, stderr }))
  })
}

/** Waits until something has become so, at most 20 seconds. */
export async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 20_000
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`It never came to this: ${String(condition)}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** A Node whose clock is ahead: the command has no option for that. */
function aheadOf(seconds: number | undefined): NodeJS.ProcessEnv {
  if (seconds === undefined) return {}
  const shift = fileURLToPath(new URL('shifted-clock.cjs', import.meta.url))
  return { NODE_OPTIONS: `--require ${JSON.stringify(shift)}`, TEST_CLOCK_AHEAD: String(seconds) }
}
