/**
 * Tells how a call failed.
 */
import { CommandError } from '../failure/command-error.ts'
import { failureOf } from '../terminal/failure.ts'
import { interruptedExitCode } from '../failure/interruption.ts'
import { asksForJson, printFact, printNote } from '../terminal/output.ts'

export function report(error: unknown): number {
  const interrupted = interruptedExitCode()
  if (interrupted !== undefined) {
    printNote(error instanceof CommandError ? `${error.message} ${error.next}` : 'Stopped.')
    return interrupted
  }
  const { exitCode, code, message, next } = failureOf(error)
  if (asksForJson()) printFact({ error: { code, message, next, exitCode } })
  else printNote([{ format: 'red', text: 'owner-sso:' }, ` ${message}`], `           ${next}`)
  return exitCode
}
