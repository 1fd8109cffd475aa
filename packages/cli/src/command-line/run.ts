/**
 * One call of the command, from its arguments to its exit code.
 */
import { printNote } from '../terminal/output.ts'
import { listenForSignals } from '../failure/interruption.ts'
import { runProgram } from './program.ts'

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

/** Node's warnings, but for one: that the default store is not encrypted is said by `owner-sso doctor` and the guide. */
function showOtherWarnings(): void {
  process.removeAllListeners('warning')
  process.on('warning', (warning) => {
    const isKnown = 'code' in warning && warning.code === 'OWNER_SSO_UNSEALED'
    if (!isKnown) printNote(`owner-sso: ${warning.name}: ${warning.message}`)
  })
}
