/** B-D D1: every error at every system call of a save, and a disk that is really full. */
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { StoreError } from '@owner-sso/core'
import type { Disk } from '../src/disk.ts'
import { storeOn } from '../src/file-token-store.ts'
import { fileTokenStore } from '../src/index.ts'
import { type Call, systemError, watched } from './faulty-disk.ts'
import { account, filesBelow, grow, sample } from './samples.ts'
import { scratchFolders } from './scratch-folder.ts'

const folders = scratchFolders()

/** The calls of the save after so many others. The first makes the folders, the fourth prunes. */
async function callsOfASave(before: number): Promise<Call[]> {
  const path = folders.make()
  await grow(fileTokenStore({ path }), before)
  const calls: Call[] = []
  const disk = watched((call, proceed) => {
    calls.push(call)
    return proceed()
  })
  await storeOn(disk, { path }).swap(account, before, sample(before + 1), 'this write')
  return calls
}

describe.each(['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EACCES', 'EMFILE', 'EFBIG'])('%s', (code) => {
  // What may fail without a word is tidying up: the temporary file, and what is pruned.
  test.each([
    { save: 'first', before: 0, tidying: 1 },
    { save: 'fourth', before: 3, tidying: 3 },
  ])('at any system call of the $save save is a StoreError, and the old record stands', async ({ before, tidying }) => {
    const count = (await callsOfASave(before)).length
    expect(count).toBeGreaterThan(20)
    const answers: unknown[] = []
    for (let failing = 0; failing < count; failing += 1) {
      const path = folders.make()
      await grow(fileTokenStore({ path }), before)
      const fault = failingAt(failing, code)
      const store = storeOn(fault.disk, { path })
      const save = (): Promise<unknown> => store.swap(account, before, sample(before + 1), 'this write')
      answers.push(await save().catch((error: unknown) => error))
      fault.isOver = true
      const stands = await fileTokenStore({ path }).read(account)
      expect([before === 0 ? undefined : sample(before), sample(before + 1)]).toContainEqual(stands?.record)
      // The same write again: whether it was applied or not, it is now.
      expect(await save()).toEqual({ version: before + 1, record: sample(before + 1) })
      await grow(store, 4)
      expect(filesBelow(path).filter((name) => name.startsWith('tmp'))).toEqual([])
      expect(filesBelow(path).length).toBeLessThanOrEqual(5)
    }
    const failures = answers.filter((answer) => answer instanceof Error)
    for (const failure of failures) {
      expect(failure).toBeInstanceOf(StoreError)
      expect(failure).toMatchObject({ code: 'ERR_SSO_STORE', reason: 'write-failed' })
    }
    expect(failures).toHaveLength(count - tidying)
  })

  test('at any system call of a read is a StoreError', async () => {
    const path = folders.make()
    await grow(fileTokenStore({ path }), 3)
    const answers: unknown[] = []
    const whole = { version: 3, record: sample(3) }
    for (let failing = 0; failing < 20; failing += 1) {
      const fault = failingAt(failing, code)
      const store = storeOn(fault.disk, { path })
      answers.push(await store.read(account).catch((error: unknown) => error))
      fault.isOver = true
      expect(await store.read(account)).toEqual(whole)
    }
    const failures = answers.filter((answer) => answer instanceof Error)
    expect(failures.length).toBeGreaterThan(8)
    for (const failure of failures) expect(failure).toMatchObject({ code: 'ERR_SSO_STORE', reason: 'read-failed' })
    expect(answers.slice(failures.length)).toEqual(Array.from({ length: 20 - failures.length }, () => whole))
  })
})

/** A disk on which one call fails, the n-th of all, until the fault is over. */
function failingAt(failing: number, code: string): { readonly disk: Disk; isOver: boolean } {
  let index = 0
  const fault = {
    isOver: false,
    disk: watched((call, proceed) => {
      const hit = index === failing && !fault.isOver
      index += 1
      if (!hit) return proceed()
      // The descriptor is gone even when close() reports an error.
      const done = call.name === 'close' ? proceed() : Promise.resolve()
      return done.then(() => Promise.reject(systemError(code, call.name)))
    }),
  }
  return fault
}

describe('a full disk', () => {
  const isRoot = process.getuid?.() === 0
  if (!isRoot && process.env['CI'] !== 'true') {
    console.warn('Skipped: a disk that is really full needs root, to mount a small tmpfs (run the tests as root).')
  }
  const asRoot = isRoot || process.env['CI'] === 'true' ? describe : describe.skip

  asRoot('in memory', () => {
    test('keeps the old record, says what to do, and goes on once there is room', async () => {
      const path = folders.make()
      const mount = join(dirname(path), 'small')
      mkdirSync(mount)
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k,mode=0700', 'tmpfs', mount])
      try {
        await grow(fileTokenStore({ path: join(mount, 'tokens') }), 3)
        execFileSync('dd', ['if=/dev/zero', `of=${mount}/filling`, 'bs=1k'], { stdio: 'ignore' })
      } catch {
        // dd ends with an error: the disk is full.
      }
      try {
        const store = fileTokenStore({ path: join(mount, 'tokens') })
        const error = await store.swap(account, 3, sample(4), 'four').catch((reason: unknown) => reason)
        expect(error).toMatchObject({ reason: 'write-failed', cause: { code: 'ENOSPC' } })
        expect(String(error)).toContain('make room')
        expect(await store.read(account)).toEqual({ version: 3, record: sample(3) })
        expect(filesBelow(join(mount, 'tokens')).filter((name) => name.startsWith('tmp'))).toEqual([])
        execFileSync('rm', [`${mount}/filling`])
        expect(await store.swap(account, 3, sample(4), 'four')).toMatchObject({ version: 4 })
      } finally {
        execFileSync('umount', [mount])
      }
    })
  })
})
