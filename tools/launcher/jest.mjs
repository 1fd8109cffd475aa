/**
 * A package's `test` script: Jest with ES modules, its results kept in test-results.json for the closing count.
 *
 * Extra arguments go to Jest: `pnpm test -- -t 'follows one 303'`.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const jest = fileURLToPath(new URL('../../node_modules/jest/bin/jest.js', import.meta.url))
const extra = process.argv.slice(2).filter((argument) => argument !== '--')
// The long forms wait more than they work.
const workers = process.env.OWNER_SSO_SOAK === '1' ? 3 : 1
const { status } = spawnSync(
  process.execPath,
  [
    '--experimental-vm-modules',
    '--no-warnings',
    jest,
    '--json',
    '--outputFile=test-results.json',
    ...(extra.some((argument) => argument.startsWith('--maxWorkers')) ? [] : [`--maxWorkers=${workers}`]),
    ...extra,
  ],
  { stdio: ['ignore', 'ignore', 'inherit'] },
)
process.exit(status ?? 1)
