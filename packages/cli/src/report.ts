/**
 * Tells how a call failed.
 */
import { failureOf } from './failure.ts'
import { interruptedExitCode } from './interruption.ts'
import { paint, printNote } from './output.ts'

/** @returns the exit code */
export function report(error: unknown): number {
  const interrupted = interruptedExitCode()
  if (interrupted !== undefined) {
    printNote('Stopped.')
    return interrupted
  }
  const { exitCode, code, message, next } = failureOf(error)
  if (process.argv.includes('--json')) printNote(JSON.stringify({ error: { code, message, next, exitCode } }))
  else printNote(`${paint('red', 'owner-sso:')} ${message}\n           ${next}`)
  return exitCode
}
