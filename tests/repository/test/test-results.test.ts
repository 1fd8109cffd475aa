import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { clearResults, countResults, isRed } from '../../../tools/launcher/test-results.mjs'

let tree: string

beforeEach(async () => {
  tree = await mkdtemp(join(tmpdir(), 'results-'))
})
afterEach(() => rm(tree, { recursive: true }))

describe('the closing count', () => {
  it('adds up all packages and examples', async () => {
    await tested('packages/core', { numPassedTests: 3, numFailedTests: 0, numPendingTests: 1 })
    await tested('examples/portal', { numPassedTests: 2, numFailedTests: 1, numTodoTests: 1 })
    expect(await countResults(tree)).toEqual({ passed: 5, failed: 1, skipped: 2, passedAlone: [] })
  })

  it('counts a package that left no results, and a file that did not run, as failures', async () => {
    await tested('packages/dead')
    await tested('packages/broken', { numPassedTests: 1, numRuntimeErrorTestSuites: 2 })
    expect(await countResults(tree)).toEqual({ passed: 1, failed: 3, skipped: 0, passedAlone: [] })
  })

  it('leaves out what has no tests', async () => {
    await mkdir(join(tree, 'packages/plain'), { recursive: true })
    await writeFile(join(tree, 'packages/plain/package.json'), '{}')
    expect(await countResults(tree)).toEqual({ passed: 0, failed: 0, skipped: 0, passedAlone: [] })
  })

  it('starts from nothing: results of an earlier run are removed', async () => {
    await tested('packages/core', { numPassedTests: 3 })
    await clearResults(tree)
    expect(existsSync(join(tree, 'packages/core/test-results.json'))).toBe(false)
  })
})

it.each([
  [{ failed: 1, skipped: 0, passedAlone: [] }, true, true],
  [{ failed: 0, skipped: 0, passedAlone: [] }, false, false],
  [{ failed: 0, skipped: 1, passedAlone: [] }, false, true],
  [{ failed: 0, skipped: 0, passedAlone: ['a.test.ts'] }, false, false],
])('a run with %j is red: %s, under CI: %s', (counts, isFailure, isFailureUnderCi) => {
  expect([isRed({ passed: 1, ...counts }, false), isRed({ passed: 1, ...counts }, true)]).toEqual([
    isFailure,
    isFailureUnderCi,
  ])
})

async function tested(folder: string, results?: Record<string, number>): Promise<void> {
  await mkdir(join(tree, folder), { recursive: true })
  await writeFile(join(tree, folder, 'package.json'), '{"scripts":{"test":"jest"}}')
  const zeros = {
    numPassedTests: 0,
    numFailedTests: 0,
    numPendingTests: 0,
    numTodoTests: 0,
    numRuntimeErrorTestSuites: 0,
  }
  if (results) await writeFile(join(tree, folder, 'test-results.json'), JSON.stringify({ ...zeros, ...results }))
}
