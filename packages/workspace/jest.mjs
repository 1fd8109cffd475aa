/**
 * A package's `test` script: Jest with ES modules, its results kept in test-results.json for the closing count.
 *
 * Extra arguments go to Jest: `pnpm test -- -t 'follows one 303'`.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const jest = fileURLToPath(new URL('../../node_modules/jest/bin/jest.js', import.meta.url))
const extra = process.argv.slice(2).filter((argument) => argument !== '--')
const { status } = spawnSync(
  process.execPath,
  [
    '--experimental-vm-modules',
    '--no-warnings',
    jest,
    '--json',
    '--outputFile=test-results.json',
    ...(extra.some((argument) => argument.startsWith('--maxWorkers')) ? [] : ['--maxWorkers=1']),
    ...extra,
  ],
  { stdio: ['ignore', 'ignore', 'inherit'] },
)
process.exit(status ?? 1)
