/** B-B B4 and B8, S27: real processes that are killed while they save. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'
import { fileTokenStore } from '../src/index.ts'
import { killedWriter } from './killed-writer.ts'
import { account, filesBelow, rounds } from './samples.ts'
import { scratchFolders } from './scratch-folder.ts'

const folders = scratchFolders()

test('kill -9 in a save: the last acknowledged record is there, and no temporary file is left', async () => {
  const path = folders.make()
  const kills = rounds(21, 1000)
  let leftOver = 0
  for (let kill = 0; kill < kills; kill += 1) {
    // Not always at the same place of the save.
    const { acknowledged } = await killedWriter(path, account, 1 + (kill % 3), { delay: (kill % 7) / 3 })
    leftOver += filesBelow(path).filter((name) => name.startsWith('tmp')).length
    const stands = await fileTokenStore({ path }).read(account)
    expect([acknowledged, acknowledged + 1]).toContain(stands?.version)
    expect(JSON.stringify(stands?.record)).toContain(`${stands?.version};${stands?.version};`)
    expect(filesBelow(path).filter((name) => name.startsWith('tmp'))).toEqual([])
    expect(filesBelow(path).length).toBeLessThanOrEqual(5)
  }
  // Otherwise the kills have all missed.
  expect(leftOver).toBeGreaterThan(0)
}, 1_200_000)

test('many processes swap one account and are killed: every version is written once, none is lost', async () => {
  const path = folders.make()
  const [swaps, kills] = [rounds(1500, 100_000), rounds(15, 500)]
  const acknowledged: number[] = []
  const swappers = new Set<ChildProcess>()
  const failures: string[] = []
  const script = fileURLToPath(new URL('../test-artefacts/programs/swapper-process.js', import.meta.url))

  const start = (): void => {
    const child = spawn(process.execPath, ['--no-warnings', script, path, account], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    swappers.add(child)
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (text + chunk).split('\n')
      text = lines.pop() ?? ''
      acknowledged.push(...lines.map(Number))
    })
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => failures.push(chunk))
  }
  const kill = async (child: ChildProcess): Promise<void> => {
    swappers.delete(child)
    if (child.exitCode !== null) return
    const closed = once(child, 'close')
    child.kill('SIGKILL')
    await closed
  }

  for (let index = 0; index < 4; index += 1) start()
  for (let killed = 0; killed < kills; killed += 1) {
    const share = ((killed + 1) * swaps) / kills
    while (acknowledged.length < share && failures.length === 0) await new Promise((resolve) => setTimeout(resolve, 2))
    const [oldest] = swappers
    if (oldest) await kill(oldest)
    if (failures.length > 0) break
    start()
  }
  await Promise.all([...swappers].map(kill))

  expect(failures).toEqual([])
  expect(new Set(acknowledged).size).toBe(acknowledged.length)
  const newest = Math.max(...acknowledged)
  const stands = await fileTokenStore({ path }).read(account)
  expect(stands?.version).toBeGreaterThanOrEqual(newest)
  // What nobody was told of was written by somebody who was killed before the answer: at most one version each.
  expect((stands?.version ?? 0) - acknowledged.length).toBeLessThanOrEqual(kills + 4)
  expect(filesBelow(path).filter((name) => name.startsWith('tmp'))).toEqual([])
}, 1_200_000)
