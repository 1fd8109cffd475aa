/**
 * A test that fails on a busy machine and passes alone is a defect, but of another kind than one that fails twice. When all
 * packages are done and the machine is quiet, a few files that failed run once more, one package after the other; those that
 * pass then are counted as passed, and named at the end of `npm test`.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { testedFolders } from './test-results.mjs'

/** More failures than this are no accident. */
const mostFiles = 8

/**
 * Runs the files that failed again, if they are few, and writes what they say then into their packages' results.
 *
 * @param {Record<string, string | undefined>} env - the environment of the tests
 * @param {string} [from] - the repository
 */
export async function trySecondTime(env, from) {
  const folders = await testedFolders(from)
  const failed = folders.map((folder) => [folder, failedFiles(join(folder, 'test-results.json'))])
  const count = failed.flatMap(([, files]) => files).length
  if (count === 0 || count > mostFiles) return
  for (const [folder, files] of failed.filter(([, names]) => names.length > 0)) runAgain(folder, files, env)
}

function runAgain(folder, files, env) {
  const results = join(folder, 'test-results.json')
  const before = readFileSync(results, 'utf8')
  const jest = fileURLToPath(new URL('jest.mjs', import.meta.url))
  spawnSync(process.execPath, [jest, '--runTestsByPath', ...files], { cwd: folder, env, stdio: 'inherit' })
  const again = existsSync(results) ? JSON.parse(readFileSync(results, 'utf8')) : { testResults: [] }
  writeFileSync(results, JSON.stringify(withSecondTry(JSON.parse(before), again)))
}

/**
 * Jest's results, with what the second run says of a file in the place of what the first said. Files that passed only then
 * are listed as `passedAlone`.
 */
export function withSecondTry(before, second) {
  const again = new Map(second.testResults.map((file) => [file.name, file]))
  const testResults = before.testResults.map((file) => again.get(file.name) ?? file)
  const left = namesOfFailed(testResults)
  const passedAlone = namesOfFailed(before.testResults).filter((file) => !left.includes(file))
  return { ...before, testResults, ...countsOf(testResults), passedAlone }
}

const failedFiles = (results) =>
  existsSync(results) ? namesOfFailed(JSON.parse(readFileSync(results, 'utf8')).testResults ?? []) : []

const namesOfFailed = (testResults) => testResults.filter(({ status }) => status === 'failed').map(({ name }) => name)

function countsOf(testResults) {
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults)
  const count = (...statuses) => tests.filter(({ status }) => statuses.includes(status)).length
  return {
    numPassedTests: count('passed'),
    numFailedTests: count('failed'),
    numPendingTests: count('pending', 'skipped', 'disabled'),
    numTodoTests: count('todo'),
    numRuntimeErrorTestSuites: testResults.filter(
      ({ status, assertionResults }) =>
        status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
    ).length,
  }
}
