#!/usr/bin/env node
/**
 * The command `owner-sso`: one call, from its arguments to its exit code.
 */
import { listenForSignals } from './interruption.ts'
import { runProgram } from './program.ts'
import { showOtherWarnings } from './warnings.ts'

listenForSignals()
showOtherWarnings()
void endOf(runProgram(process.argv)).then((code) => process.exit(code))

/** The exit code; a failure has been told by then. */
async function endOf(call: Promise<number>): Promise<number> {
  try {
    return await call
  } catch (error) {
    // Loaded only for a call that failed.
    const { report } = await import('./report.ts')
    return report(error)
  }
}
