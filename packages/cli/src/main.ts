#!/usr/bin/env node
/**
 * The command `owner-sso`: one call, from its arguments to its exit code.
 */
import { listenForSignals } from './interruption.ts'
import { tolerateClosedPipes } from './output.ts'
import { runProgram } from './program.ts'

tolerateClosedPipes()
listenForSignals()
process.exit(await endOf(runProgram(process.argv)))

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
