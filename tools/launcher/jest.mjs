/**
 * A package's `test` script: Jest with ES modules, its results kept in test-results.json for the closing count.
 *
 * Extra arguments go to Jest: `pnpm test -- -t 'follows one 303'`. As a part of `npm test` it ends in any case
 * (`bounded-run.mjs`), and a file that failed is tried once more, alone (`second-try.mjs`).
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { boundedRun } from './bounded-run.mjs'
import { mergeSecondTry, worthASecondTry } from './second-try.mjs'

const jest = fileURLToPath(new URL('../../node_modules/jest/bin/jest.js', import.meta.url))
const extra = process.argv.slice(2).filter((argument) => argument !== '--')
// The long forms wait more than they work.
const isSoak = process.env.OWNER_SSO_SOAK === '1'
const results = 'test-results.json'

if (process.env.OWNER_SSO_WHOLE_RUN !== '1') {
  process.exit(spawnSync(process.execPath, jestArguments(results, extra), stdio()).status ?? 1)
}

const minutes = isSoak ? 300 : 35
const status = await boundedRun(process.execPath, jestArguments(results, extra), { minutes, results })
const files = status === 0 || isSoak ? [] : worthASecondTry(results)
if (files.length === 0) process.exit(status)
const again = 'test-results.second.json'
await boundedRun(process.execPath, jestArguments(again, ['--runTestsByPath', ...files]), { minutes, results: again })
process.exit(mergeSecondTry(results, again) ? 0 : 1)

function jestArguments(outputFile, more) {
  return [
    '--experimental-vm-modules',
    '--no-warnings',
    jest,
    '--json',
    `--outputFile=${outputFile}`,
    ...(more.some((argument) => argument.startsWith('--maxWorkers')) ? [] : [`--maxWorkers=${isSoak ? 3 : 1}`]),
    ...more,
  ]
}

function stdio() {
  return { stdio: ['ignore', 'ignore', 'inherit'] }
}
