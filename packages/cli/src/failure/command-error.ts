/**
 * What a command says when it can't do its work: what happened, what to do next, and its exit code.
 */
import { systemCode } from '@owner-sso/core'

/** The documented exit codes. A call that a signal cut short has 128 and the signal's number, as shells have it. */
export const exitCodes = {
  ok: 0,
  unexpected: 1,
  usage: 2,
  signInAgain: 3,
  credentials: 4,
  firewall: 5,
  store: 6,
  network: 7,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** An end that the person at the terminal can do something about. */
export class CommandError extends Error {
  readonly exitCode: ExitCode
  readonly next: string

  /** For programs; an SsoError's where the command says the same in its own words. */
  readonly code: string

  constructor(exitCode: ExitCode, message: string, next: string, code = 'ERR_SSO_CLI') {
    super(message)
    this.name = 'CommandError'
    this.exitCode = exitCode
    this.next = next
    this.code = code
  }
}

/** Something is missing or wrong in how the command was called or set up. */
export function usageError(message: string, next: string): CommandError {
  return new CommandError(exitCodes.usage, message, next)
}

/** The system refused something. @param problem - what, such as `/etc/x can’t be read`; the system's code follows it */
export function systemError(problem: string, error: unknown, next: string): CommandError {
  return usageError(`${problem} (${systemCode(error) ?? 'unknown'}).`, next)
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown'
}
