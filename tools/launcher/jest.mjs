/**
 * A package's `test` script: Jest with ES modules, its results kept in test-results.json for the closing count.
 *
 * Extra arguments go to Jest: `pnpm test -- -t 'follows one 303'`. As a part of `npm test` it ends in any case
 * (`bounded-run.mjs`).
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { boundedRun } from './bounded-run.mjs'
import { processesForEach } from './load.mjs'

const jest = fileURLToPath(new URL('../../node_modules/jest/bin/jest.js', import.meta.url))
const extra = process.argv.slice(2).filter((argument) => argument !== '--')
const isSoak = process.env.OWNER_SSO_SOAK === '1'
const results = 'test-results.json'
const args = [
  '--experimental-vm-modules',
  '--no-warnings',
  jest,
  '--json',
  `--outputFile=${results}`,
  ...(extra.some((argument) => argument.startsWith('--maxWorkers')) ? [] : [`--maxWorkers=${processesForEach}`]),
  // On Node 20 and 22 each test file leaves an AsyncLocalStorage of Jest's behind, and every one of them slows each `await`
  // down: after fifty files twentyfold. A process that has grown so far is replaced by a new one.
  '--workerIdleMemoryLimit=300MB',
  ...extra,
]

if (process.env.OWNER_SSO_WHOLE_RUN !== '1') {
  process.exit(spawnSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] }).status ?? 1)
}
process.exit(await boundedRun(process.execPath, args, { minutes: isSoak ? 300 : 35, results }))
