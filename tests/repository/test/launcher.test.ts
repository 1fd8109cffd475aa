/** `npm test` ends whatever a test leaves behind, and says which files passed only at a second try. */
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { boundedRun } from '../../../tools/launcher/bounded-run.mjs'
import { mergeSecondTry, worthASecondTry } from '../../../tools/launcher/second-try.mjs'

let folder: string
const at = (name: string): string => join(folder, name)

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'launcher-'))
})
afterEach(() => rm(folder, { recursive: true }))

describe('a bounded run', () => {
  it('hands on the exit code, and leaves no process behind', async () => {
    const status = await runs(`
      const { spawn } = require('node:child_process')
      const left = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
      require('node:fs').writeFileSync(${JSON.stringify(at('pid'))}, String(left.pid))
      process.exit(7)`)
    expect(status).toBe(7)
    const pid = Number(await readFile(at('pid'), 'utf8'))
    await until(() => !isRunning(pid))
  })

  it('ends what hangs', async () => {
    expect(await runs('setInterval(() => {}, 1000)', 0.02)).toBe(1)
  })
})

describe('a second try', () => {
  it('is for a few files', async () => {
    await results('first', ['a', 'failed'], ['b', 'passed'])
    expect(worthASecondTry(at('first'))).toEqual(['a'])
    await results('first', ['a', 'failed'], ['b', 'failed'], ['c', 'failed'], ['d', 'failed'])
    expect(worthASecondTry(at('first'))).toEqual([])
    expect(worthASecondTry(at('none'))).toEqual([])
  })

  it('counts what passes then, and names it', async () => {
    await results('first', ['a', 'failed'], ['b', 'passed'])
    await results('second', ['a', 'passed'])
    expect(mergeSecondTry(at('first'), at('second'))).toBe(true)
    expect(JSON.parse(await readFile(at('first'), 'utf8'))).toMatchObject({
      numPassedTests: 2,
      numFailedTests: 0,
      passedAlone: ['a'],
    })
  })

  it('leaves what fails again a failure', async () => {
    await results('first', ['a', 'failed'], ['b', 'broken'])
    await results('second', ['a', 'failed'], ['b', 'passed'])
    expect(mergeSecondTry(at('first'), at('second'))).toBe(false)
    expect(JSON.parse(await readFile(at('first'), 'utf8'))).toMatchObject({
      numPassedTests: 1,
      numFailedTests: 1,
      numRuntimeErrorTestSuites: 0,
      passedAlone: ['b'],
    })
    expect(mergeSecondTry(at('first'), at('none'))).toBe(false)
    expect(existsSync(at('first'))).toBe(true)
  })
})

const runs = async (script: string, minutes = 1): Promise<number> =>
  boundedRun(process.execPath, ['-e', script], { minutes, results: at('results') })

/** Jest's results; a `broken` file has a test file that does not run. */
async function results(name: string, ...files: [name: string, status: string][]): Promise<void> {
  const testResults = files.map(([file, status]) => ({
    name: file,
    status: status === 'broken' ? 'failed' : status,
    assertionResults: status === 'broken' ? [] : [{ status }],
  }))
  await writeFile(at(name), JSON.stringify({ testResults }))
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
