/** B-D D1: every error at every system call of a save, and a disk that is really full. */
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { StoreError } from '@owner-sso/token-manager'
import { type Disk, systemDisk } from '../src/disk.ts'
import { createStore } from '../src/file-token-store.ts'
import { fileTokenStore } from '../src/index.ts'
import { type Call, systemError, watched } from './faulty-disk.ts'
import { account, filesBelow, grow, rounds, sample } from './samples.ts'
import { scratchFolders } from './scratch-folder.ts'

const folders = scratchFolders()

test.each([
  ['ENOSPC', 'make room'],
  ['EDQUOT', 'make room'],
  ['EFBIG', 'size of files'],
  ['EROFS', 'read-only'],
  ['EACCES', 'lacks permission'],
  ['EPERM', 'lacks permission'],
  ['ENOENT', 'choose another path'],
  ['ENOTDIR', 'choose another path'],
  ['EIO', 'look at the system’s log'],
  ['EMFILE', 'raise its limit'],
  ['ENFILE', 'raise its limit'],
  ['ENAMETOOLONG', 'choose a shorter one'],
])('the error for %s says what to do', async (code, advice) => {
  const path = folders.make()
  const store = createStore({ ...systemDisk, realpath: () => Promise.reject(systemError(code, 'realpath')) }, { path })
  const told = (what: string): unknown =>
    expect.stringMatching(new RegExp(`${path} .*${what} \\(${code}\\).*${advice}`, 'u'))
  await expect(store.read(account)).rejects.toMatchObject({ reason: 'read-failed', message: told('read') })
  const swap = store.swap(account, 0, sample(1), 'one')
  await expect(swap).rejects.toMatchObject({ reason: 'write-failed', message: told('written') })
})

test('the error for Node’s permission model says what to do, and nothing is lost', () => {
  const flag = process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission'
  const index = new URL('../dist/index.js', import.meta.url)
  const told = (path: string, ...flags: string[]): string =>
    execFileSync(
      process.execPath,
      [
        flag,
        '--allow-fs-read=*',
        ...flags,
        '--input-type=module',
        '--eval',
        `
      import { fileTokenStore } from ${JSON.stringify(index)}
      const store = fileTokenStore({ path: ${JSON.stringify(path)}, encryptionKey: new Uint8Array(32) })
      const record = { schema: 1, state: 'signed-out', generation: 1 }
      await store.swap('ann', 0, record, 'one').catch((error) => console.log(error.reason, error.message))
    `,
      ],
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
    )
  const path = folders.make()
  expect(told(path, `--allow-fs-write=${dirname(path)}/*`)).toMatch(
    /^permissions Node’s permission model forbids fsync/u,
  )
  expect(told(path)).toMatch(/^permissions .* --allow-fs-write/u)
})

/** A system call, and which one of that name. */
interface Place {
  readonly name: Call['name']
  readonly nth: number
}

/** The calls of the save after so many others. The first makes the folders, the fourth prunes. */
async function callsOfASave(before: number): Promise<Place[]> {
  const path = folders.make()
  await grow(fileTokenStore({ path }), before)
  return callsOf((disk) => createStore(disk, { path }).swap(account, before, sample(before + 1), 'this write'))
}

async function callsOf(operation: (disk: Disk) => Promise<unknown>): Promise<Place[]> {
  const places: Place[] = []
  const disk = watched((call, proceed) => {
    places.push({ name: call.name, nth: places.filter(({ name }) => name === call.name).length })
    return proceed()
  })
  await operation(disk)
  return places
}

/** A disk on which one call fails, until the fault is over. */
function failingAt(place: Place, code: string): { readonly disk: Disk; isOver: boolean } {
  let count = 0
  const fault = {
    isOver: false,
    disk: watched((call, proceed) => {
      if (call.name !== place.name) return proceed()
      const hit = count === place.nth && !fault.isOver
      count += 1
      if (!hit) return proceed()
      // The descriptor is gone even when close() reports an error.
      const done = call.name === 'close' ? proceed() : Promise.resolve()
      return done.then(() => Promise.reject(systemError(code, call.name)))
    }),
  }
  return fault
}

const codes = ['ENOSPC', 'EIO', 'EROFS', 'EDQUOT', 'EACCES', 'EMFILE', 'EFBIG']

describe.each(codes.slice(0, rounds(3, codes.length)))('%s', (code) => {
  test.each([
    { save: 'first', before: 0 },
    { save: 'fourth', before: 3 },
  ])('at any system call of the $save save is a StoreError, and the old record is kept', async ({ before }) => {
    const places = await callsOfASave(before)
    expect(places.length).toBeGreaterThan(20)
    const answers: unknown[] = []
    for (const place of places) {
      const path = folders.make()
      await grow(fileTokenStore({ path }), before)
      const fault = failingAt(place, code)
      const store = createStore(fault.disk, { path })
      const save = (): Promise<unknown> => store.swap(account, before, sample(before + 1), 'this write')
      answers.push(await save().catch((error: unknown) => error))
      fault.isOver = true
      const stands = await fileTokenStore({ path }).read(account)
      expect([before === 0 ? undefined : sample(before), sample(before + 1)]).toContainEqual(stands?.record)
      // The same write again: whether it was applied or not, it is now.
      expect(await save()).toMatchObject({ version: before + 1, record: sample(before + 1) })
      await grow(store, 4)
      expect(filesBelow(path).filter((name) => name.startsWith('tmp'))).toEqual([])
      expect(filesBelow(path).length).toBeLessThanOrEqual(5)
    }
    const failures = answers.filter((answer) => answer instanceof Error)
    for (const failure of failures) {
      expect(failure).toBeInstanceOf(StoreError)
      expect(failure).toMatchObject({ code: 'ERR_SSO_STORE', reason: 'write-failed' })
    }
    // What may fail without a word: to close what was only read or synced, and to tidy up.
    const silent = places.filter((_place, index) => !(answers[index] instanceof Error)).map(({ name }) => name)
    const closed = places.filter(({ name }) => name === 'close').length
    expect(silent.filter((name) => name === 'close')).toHaveLength(closed - 1)
    expect(silent.filter((name) => name === 'readdir').length).toBeLessThanOrEqual(1)
    expect(silent.filter((name) => !['close', 'unlink', 'readdir', 'statfs'].includes(name))).toEqual([])
  })

  test('at any system call of a read is a StoreError', async () => {
    const path = folders.make()
    await grow(fileTokenStore({ path }), 3)
    const whole = { version: 3, record: sample(3) }
    const places = await callsOf((disk) => createStore(disk, { path }).read(account))
    for (const place of places.filter(({ name }) => !['statfs', 'close'].includes(name))) {
      const fault = failingAt(place, code)
      const store = createStore(fault.disk, { path })
      await expect(store.read(account)).rejects.toMatchObject({ code: 'ERR_SSO_STORE', reason: 'read-failed' })
      fault.isOver = true
      expect(await store.read(account)).toMatchObject(whole)
    }
    // Nothing is lost with a file that was only read.
    expect(await createStore(failingAt({ name: 'close', nth: 0 }, code).disk, { path }).read(account)).toMatchObject(
      whole,
    )
  })
})

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
        expect(await store.read(account)).toMatchObject({ version: 3, record: sample(3) })
        expect(filesBelow(join(mount, 'tokens')).filter((name) => name.startsWith('tmp'))).toEqual([])
        execFileSync('rm', [`${mount}/filling`])
        expect(await store.swap(account, 3, sample(4), 'four')).toMatchObject({ version: 4 })
      } finally {
        execFileSync('umount', [mount])
      }
    })
  })
})
