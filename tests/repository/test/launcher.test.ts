/** `npm test` ends whatever a test leaves behind, and says which files passed only at a second try. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { boundedRun } from '../../../tools/launcher/bounded-run.mjs'
import { trySecondTime, withSecondTry } from '../../../tools/launcher/second-try.mjs'
import { countResults } from '../../../tools/launcher/test-results.mjs'

let folder: string
const pathOf = (name: string): string => join(folder, name)

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'launcher-'))
})
afterEach(() => rm(folder, { recursive: true }))

describe('a bounded run', () => {
  it('hands on the exit code, and leaves no process behind', async () => {
    const status = await runs(`
      const { spawn } = require('node:child_process')
      const left = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
      require('node:fs').writeFileSync(${JSON.stringify(pathOf('pid'))}, String(left.pid))
      process.exit(7)`)
    expect(status).toBe(7)
    const pid = Number(await readFile(pathOf('pid'), 'utf8'))
    await until(() => !isRunning(pid))
  })

  it('ends what hangs', async () => {
    expect(await runs('setInterval(() => {}, 1000)', 0.02)).toBe(1)
  })
})

describe('a second try', () => {
  it('is made for a few files, in the folders of their packages', async () => {
    const packages = await Promise.all([1, 2, 3].map((number) => packageWith(number, 'failed')))
    const broken = await packageWith(4, 'broken')
    await packageWith(5, 'passed')
    await trySecondTime(process.env, folder)
    const told = await Promise.all([...packages, broken].map((at) => readResults(at)))
    expect(told).toEqual([1, 2, 3, 4].map(() => expect.objectContaining({ numPassedTests: 1, numFailedTests: 0 })))
    expect((await countResults(folder)).passedAlone).toHaveLength(4)
  })

  it('is not made for many', async () => {
    const at = await packageWith(1, ...Array.from({ length: 9 }, () => 'failed'))
    const before = await readResults(at)
    await trySecondTime(process.env, folder)
    expect(await readResults(at)).toEqual(before)
  })

  it('counts a file that fails again, or does not run again, as a failure', () => {
    const first = jestResults(['a', 'failed'], ['b', 'broken'], ['c', 'failed'])
    expect(withSecondTry(first, jestResults(['a', 'failed'], ['b', 'passed']))).toMatchObject({
      numPassedTests: 1,
      numFailedTests: 2,
      numRuntimeErrorTestSuites: 0,
      passedAlone: ['b'],
    })
  })
})

const runs = async (script: string, minutes = 1): Promise<number> =>
  boundedRun(process.execPath, ['-e', script], { minutes, results: pathOf('results') })

/** A package of the repository in `folder`: one test that passes now, and results of an earlier run. */
async function packageWith(number: number, ...statuses: string[]): Promise<string> {
  const at = join(folder, 'packages', String(number))
  await mkdir(at, { recursive: true })
  await writeFile(join(at, 'package.json'), '{"scripts":{"test":"jest"}}')
  await writeFile(join(at, 'jest.config.json'), '{"testMatch":["<rootDir>/*.test.cjs"]}')
  await writeFile(join(at, '0.test.cjs'), 'it("passes", () => {})')
  const files = statuses.map((status, index): [string, string] => [join(at, `${index}.test.cjs`), status])
  await writeFile(join(at, 'test-results.json'), JSON.stringify({ ...countsOfNothing, ...jestResults(...files) }))
  return at
}

const countsOfNothing = { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0 }

const readResults = async (at: string): Promise<unknown> =>
  JSON.parse(await readFile(join(at, 'test-results.json'), 'utf8')) as unknown

/** Jest's results; a `broken` file has a test file that does not run. */
function jestResults(...files: [name: string, status: string][]): { testResults: object[] } {
  return {
    testResults: files.map(([name, status]) => ({
      name,
      status: status === 'broken' ? 'failed' : status,
      assertionResults: status === 'broken' ? [] : [{ status }],
    })),
  }
}

/** Whether a process runs; one that has ended and waits to be buried does not. */
function isRunning(pid: number): boolean {
  const stat = `/proc/${pid}/stat`
  try {
    process.kill(pid, 0)
    return !existsSync(stat) || !readFileSync(stat, 'utf8').includes(') Z ')
  } catch {
    return false
  }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10))
}

it('files that the type check writes are no inputs of a build: a second npm test takes the rest from the cache', () => {
  const root = join(import.meta.dirname, '../../..')
  const folders = ['packages', 'examples', 'tests'].flatMap((group) =>
    readdirSync(join(root, group)).map((name) => join(root, group, name)),
  )
  const builds = folders
    .filter((home) => existsSync(join(home, 'turbo.json')))
    .map((home) => {
      const { inputs = [] } = JSON.parse(readFileSync(join(home, 'turbo.json'), 'utf8')).tasks.build ?? {}
      const checked = inputs.filter((input: string) => existsSync(join(home, input.replace('**', 'tsconfig.json'))))
      return {
        whole: checked.some((input: string) => input.endsWith('/**')),
        excludes: inputs.includes('!**/*.tsbuildinfo'),
      }
    })
  expect(builds).toContainEqual({ whole: true, excludes: true })
  expect(builds).not.toContainEqual({ whole: true, excludes: false })
})
