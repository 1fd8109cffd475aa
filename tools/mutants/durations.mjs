/** How long each test file took when the tests were last run in this repository (`npm test`). */
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { join, relative } from 'node:path'

/** Seconds, for a file of which nothing is known. */
const assumed = 3

/**
 * @param {string} root - of the repository
 * @returns {(folder: string, file: string) => number} seconds that a test file of a folder of the repository takes
 */
export function recordedDurations(root) {
  /** @type {Map<string, Map<string, number>>} */
  const known = new Map()
  return (folder, file) => {
    if (!known.has(folder)) known.set(folder, durationsOf(join(root, folder)))
    return known.get(folder)?.get(file) ?? assumed
  }
}

/** @param {string} home */
function durationsOf(home) {
  const path = join(home, 'test-results.json')
  if (!existsSync(path)) return new Map()
  /** @type {{ testResults: { name: string, startTime: number, endTime: number }[] }} */
  const { testResults } = JSON.parse(readFileSync(path, 'utf8'))
  return new Map(
    testResults.map(({ name, startTime, endTime }) => [
      relative(realpathSync(home), name),
      (endTime - startTime) / 1000,
    ]),
  )
}
