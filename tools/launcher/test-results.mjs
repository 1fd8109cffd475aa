/**
 * The test-results.json that each package's tests leave behind (and that turbo's cache brings back), added up.
 */
import { existsSync } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { join, relative } from 'node:path'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Removes what an earlier run left, so that a package that dies is not counted with its old results. */
export async function clearResults(from = root) {
  for (const folder of await testedFolders(from)) await rm(join(folder, 'test-results.json'), { force: true })
}

/**
 * Numbers of tests over all packages and examples, and the files that passed only at a second try. A package that has tests and
 * left no results counts as one failure.
 */
export async function countResults(from = root) {
  /** @type {{ passed: number, failed: number, skipped: number, passedAlone: string[] }} */
  const total = { passed: 0, failed: 0, skipped: 0, passedAlone: [] }
  for (const folder of await testedFolders(from)) {
    const file = join(folder, 'test-results.json')
    if (!existsSync(file)) {
      total.failed += 1
      continue
    }
    const results = JSON.parse(await readFile(file, 'utf8'))
    total.passed += results.numPassedTests
    total.failed += results.numFailedTests + results.numRuntimeErrorTestSuites
    total.skipped += results.numPendingTests + results.numTodoTests
    total.passedAlone.push(...(results.passedAlone ?? []).map((path) => relative(from, path)))
  }
  return total
}

/**
 * Whether a run with these counts has failed.
 *
 * @param {Awaited<ReturnType<typeof countResults>>} counts
 * @param {boolean} isStrict - under CI=true: nothing may be skipped
 */
export function isRed({ failed, skipped }, isStrict) {
  return failed > 0 || (isStrict && skipped > 0)
}

/** The folders of all packages and examples that have tests. */
export async function testedFolders(from = root) {
  const groups = ['packages', 'internal', 'examples', 'tests'].map((group) => join(from, group)).filter(existsSync)
  const lists = await Promise.all(groups.map(async (group) => (await readdir(group)).map((name) => join(group, name))))
  const tested = await Promise.all(
    lists.flat().map(async (folder) => {
      const manifest = join(folder, 'package.json')
      if (!existsSync(manifest)) return []
      return JSON.parse(await readFile(manifest, 'utf8')).scripts?.test ? [folder] : []
    }),
  )
  return tested.flat()
}
