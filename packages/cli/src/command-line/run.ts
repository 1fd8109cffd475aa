/**
 * One call of the command, from its arguments to its exit code.
 */
import { listenForSignals } from './interruption.ts'
import { runProgram } from './program.ts'
import { showOtherWarnings } from './warnings.ts'

/** Ends the process. */
export async function run(argv: readonly string[]): Promise<never> {
  listenForSignals()
  showOtherWarnings()
  process.exit(await endOf(runProgram(argv)))
}

/** The exit code; a failure has been reported by then. */
async function endOf(call: Promise<number>): Promise<number> {
  try {
    return await call
  } catch (error) {
    // Loaded only for a call that failed.
    const { report } = await import('./report.ts')
    return report(error)
  }
}
