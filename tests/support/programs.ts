/** Programs of the system that a test starts. */
import { spawnSync } from 'node:child_process'
import { describe } from '@jest/globals'

/** `describe` where all of them are on the PATH; skipped elsewhere, and a failure on CI. */
export function describeWithPrograms(...names: readonly string[]): typeof describe | typeof describe.skip {
  const missing = names.filter((name) => spawnSync(name, ['--version']).error !== undefined)
  if (missing.length === 0 || process.env['CI'] === 'true') return describe
  console.warn(`Skipped: what needs ${missing.join(' and ')}, not on the PATH.`)
  return describe.skip
}
