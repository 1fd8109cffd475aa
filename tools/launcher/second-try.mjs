/**
 * A test that fails on a busy machine and passes alone is a defect, but of another kind than one that fails twice. A few files
 * that failed run once more, alone; those that pass then are counted as passed, and named at the end of `npm test`.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

/** More failures than this are no accident. */
const mostFiles = 3

/** The paths of the files that failed, if they are few. @param {string} results - Jest's results */
export function worthASecondTry(results) {
  if (!existsSync(results)) return []
  const failed = failedFiles(read(results))
  return failed.length <= mostFiles ? failed : []
}

/**
 * Puts what the second run says of a file in the place of what the first said. Files that passed only then are listed as
 * `passedAlone`.
 *
 * @param {string} first - Jest's results, which are written again
 * @param {string} second - results of the files that failed, alone
 * @returns {boolean} whether all is green now
 */
export function mergeSecondTry(first, second) {
  if (!existsSync(second)) return false
  const before = read(first)
  const again = new Map(read(second).testResults.map((file) => [file.name, file]))
  const testResults = before.testResults.map((file) => again.get(file.name) ?? file)
  const merged = { ...before, testResults, ...countsOf(testResults) }
  const left = failedFiles(merged)
  writeFileSync(
    first,
    JSON.stringify({ ...merged, passedAlone: failedFiles(before).filter((file) => !left.includes(file)) }),
  )
  return left.length === 0
}

const read = (file) => JSON.parse(readFileSync(file, 'utf8'))

const failedFiles = ({ testResults }) => testResults.filter(({ status }) => status === 'failed').map(({ name }) => name)

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
