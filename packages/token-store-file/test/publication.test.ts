/** Writers that sleep, die or come too late, each at the worst moment. */
import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, jest, test } from '@jest/globals'
import { StoreError, type TokenStore } from '@owner-sso/token-manager'
import { type Disk, systemDisk } from '../src/disk.ts'
import { createStore } from '../src/file-token-store.ts'
import { fileTokenStore } from '../src/index.ts'
import { type Call, systemError, watched } from './faulty-disk.ts'
import { account, filesBelow, folderOf, grow, keyOf, sample } from './samples.ts'
import { scratchFolders } from './scratch-folder.ts'

const folders = scratchFolders()

/** The calls of one save over version 3. */
async function callsOfASave(disk: Disk): Promise<readonly Call['name'][]> {
  const path = folders.make()
  await grow(createStore(disk, { path }), 3)
  const names: Call['name'][] = []
  const store = createStore(
    watched((call, proceed) => {
      names.push(call.name)
      return proceed()
    }, disk),
    { path },
  )
  await store.swap(account, 3, sample(4), 'four')
  return names
}

/** Writes one version over what stands, as often as it takes. Where the sleeper blocks the way it gives up. */
async function writeOne(store: TokenStore, forgetOlder: boolean): Promise<'written' | 'blocked'> {
  for (;;) {
    try {
      const version = (await store.read(account))?.version ?? 0
      const answer = await store.swap(account, version, sample(version + 1), randomUUID(), { forgetOlder })
      if ('version' in answer) return 'written'
    } catch (error) {
      if (error instanceof StoreError && error.reason === 'busy') return 'blocked'
      throw error
    }
  }
}

describe.each<[string, Disk, number[], boolean]>([
  ['with hard links', systemDisk, [1, 3, 4], false],
  ['where older versions are to go at once', systemDisk, [1, 4], true],
])('%s, a writer that is stopped before any of its system calls', (_name, disk, counts, forgetOlder) => {
  test.each(counts)('while others write %i versions: one write a version, and no answer is wrong', async (others) => {
    const count = (await callsOfASave(disk)).length
    for (let asleep = 0; asleep < count; asleep += 1) {
      const path = folders.make()
      const awake = createStore(disk, { path })
      await grow(awake, 3)
      let [index, written] = [0, 0]
      let nap: Promise<void> | undefined
      const othersWrite = async (): Promise<void> => {
        for (; written < others; written += 1) if ((await writeOne(awake, forgetOlder)) === 'blocked') break
      }
      const sleeping = watched(async (_call, proceed) => {
        const mine = index
        index += 1
        if (mine === asleep) await (nap = othersWrite())
        return proceed()
      }, disk)
      const answer = await createStore(sleeping, { path }).swap(account, 3, sample(-4), 'slept', { forgetOlder })
      // Some calls go on beside others, or after the answer: then nobody sleeps.
      await nap
      // Either it was first and the others wrote on top of it, or it met a conflict and left nothing behind.
      const applied = 'version' in answer ? 1 : 0
      const record = applied === 1 && written === 0 ? sample(-4) : sample(3 + written + applied)
      const stands = await awake.read(account)
      expect({ asleep, ...stands }).toMatchObject({ asleep, version: 3 + written + applied, record })
      expect(filesBelow(path).filter((name) => name.startsWith('tmp'))).toEqual([])
      expect(filesBelow(path).length).toBeLessThanOrEqual(5)
    }
  })
})

test('a writer that is stopped before its first save, while others sign in and go on, is not told that it has saved', async () => {
  for (let asleep = 0, ended = false; !ended; asleep += 1) {
    const path = folders.make()
    const awake = createStore(systemDisk, { path })
    // So many that the first ones are gone by the end.
    const othersWrite = async (): Promise<void> => {
      for (let written = 0; written < 5; written += 1) await writeOne(awake, false)
    }
    let index = 0
    let nap: Promise<void> | undefined
    const sleeping = watched(async (_call, proceed) => {
      const mine = index
      index += 1
      if (mine === asleep) await (nap = othersWrite())
      return proceed()
    })
    const answer = await createStore(sleeping, { path }).swap(account, 0, sample(-1), 'slept')
    await nap
    ended = nap === undefined
    const version = ('version' in answer ? 1 : 0) + (ended ? 0 : 5)
    expect({ asleep, ...(await awake.read(account)) }).toMatchObject({ asleep, version })
  }
})

/** All of it: from Node 24 on, `rmSync` ends early, and says nothing, where a call beside it removes one of the files. */
const remove = (path: string): void => {
  while (existsSync(path)) rmSync(path, { recursive: true, force: true })
}

describe('a writer that is stopped before any of its system calls, while the store is emptied and filled again', () => {
  const losses: [string, (path: string) => void][] = [
    ['all of the folder goes', remove],
    ['what is in it goes', (path) => readdirSync(path).forEach((name) => remove(join(path, name)))],
    ["the account's folder is moved away", (path) => renameSync(folderOf(path), join(path, 'away'))],
  ]
  test.each(losses)('%s: gets a conflict, whatever the version', async (_name, lose) => {
    const count = (await callsOfASave(systemDisk)).length
    for (let asleep = 0; asleep < count; asleep += 1) {
      const path = folders.make()
      await grow(createStore(systemDisk, { path }), 3)
      const expectedWriteId = (await createStore(systemDisk, { path }).read(account))?.writeId ?? ''
      const loseAndFill = async (): Promise<void> => {
        lose(path)
        const anew = createStore(systemDisk, { path })
        for (let version = 0; version < 3; version += 1) {
          await anew.swap(account, version, sample(30 + version), `filled ${version}`)
        }
      }
      let index = 0
      let nap: Promise<void> | undefined
      const sleeping = watched(async (_call, proceed) => {
        const mine = index
        index += 1
        if (mine === asleep) await (nap = loseAndFill())
        return proceed()
      }, systemDisk)
      const late = createStore(sleeping, { path }).swap(account, 3, sample(-4), 'slept', { expectedWriteId })
      // Its own file may have gone with the others.
      await late.catch(() => undefined)
      if (nap === undefined) continue
      await nap
      expect({ asleep, ...(await createStore(systemDisk, { path }).read(account)) }).toMatchObject({
        asleep,
        version: 3,
        record: sample(32),
      })
    }
  })
})

const leave = (path: string, ...writers: string[]): void => {
  mkdirSync(join(path, 'tmp'), { recursive: true, mode: 0o700 })
  writers.forEach((writer, index) => {
    const name = `${keyOf(account)}.4.${writer}.${String(index).padStart(16, '0')}`
    writeFileSync(join(path, 'tmp', name), 'half a rec', { mode: 0o600 })
  })
}

test('a living writer whose temporary file was removed tries again', async () => {
  const path = folders.make()
  let swept = 0
  const disk = watched(async (call, proceed) => {
    if (call.name === 'link' && swept < 3) {
      swept += 1
      await systemDisk.unlink(String(call.arguments[0]))
    }
    return proceed()
  })
  expect(await createStore(disk, { path }).swap(account, 0, sample(1), 'one')).toMatchObject({
    version: 1,
    record: sample(1),
  })
  expect(swept).toBe(3)
})

test('on a disk so slow that one read takes longer than the limit, the loser of a race gets a conflict, not busy', async () => {
  const path = folders.make()
  await grow(createStore(systemDisk, { path }), 1)
  const clock = jest.spyOn(performance, 'now')
  let beaten = false
  const slow = watched(async (call, proceed) => {
    if (call.name === 'link' && !beaten) {
      beaten = true
      await createStore(systemDisk, { path }).swap(account, 1, sample(2), 'winner')
      const now = performance.now()
      clock.mockImplementation(() => now + 3000)
    }
    return proceed()
  })
  try {
    expect(await createStore(slow, { path }).swap(account, 1, sample(-2), 'loser')).toEqual({ conflict: true })
  } finally {
    clock.mockRestore()
  }
})

test('a swap that loses to others for too long ends with busy', async () => {
  const path = folders.make()
  const clock = jest.spyOn(performance, 'now')
  let now = 0
  clock.mockImplementation(() => now)
  const disk = watched(async (call, proceed) => {
    if (call.name === 'link' && dirname(String(call.arguments[1])) === folderOf(path)) {
      now += 1000
      await systemDisk.unlink(String(call.arguments[0]))
    }
    return proceed()
  })
  try {
    const swap = createStore(disk, { path }).swap(account, 0, sample(1), 'one')
    await expect(swap).rejects.toMatchObject({ code: 'ERR_SSO_STORE', reason: 'busy' })
  } finally {
    clock.mockRestore()
  }
})

test('a removed folder for temporary files is made again, by this process or another', async () => {
  const path = folders.make()
  const temporary = join(path, 'tmp')
  let [isMade, links] = [false, 0]
  const disk = watched(async (call, proceed) => {
    if (call.name === 'link') links += 1
    if (isMade && call.name === 'mkdir' && call.arguments[0] === temporary) await systemDisk.mkdir(temporary, 0o700)
    return proceed()
  })
  const store = createStore(disk, { path })
  await grow(store, 1)
  for (isMade of [false, true]) {
    rmSync(temporary, { recursive: true })
    await grow(store, 1)
    expect(statSync(temporary).mode & 0o777).toBe(0o700)
  }
  expect(await store.read(account)).toMatchObject({ version: 3 })
  // The first looks whether there are any; each of the others is of a file that stands.
  expect(links).toBe(4)
})

test.each([
  [false, ['t.4', 't.5', 't.6']],
  [true, ['t.6']],
])(
  'a file that another process has just removed causes no error (older versions go: %s)',
  async (forgetOlder, left) => {
    const path = folders.make()
    await grow(fileTokenStore({ path }), 3)
    const dead = spawnSync(process.execPath, ['--version']).pid
    let removed = 0
    const disk = watched(async (call, proceed) => {
      if (call.name === 'unlink') {
        removed += 1
        await systemDisk.unlink(String(call.arguments[0]))
      }
      return proceed()
    })
    const store = createStore(disk, { path })
    await grow(store, 2)
    leave(path, `${dead}.1`, `${dead}.2`)
    expect(await store.swap(account, 5, sample(6), 'six', { forgetOlder })).toMatchObject({ version: 6 })
    expect(filesBelow(path).map((name) => basename(name))).toEqual(left)
    expect(removed).toBeGreaterThan(5)
  },
)

describe('left-over temporary files', () => {
  test('of dead processes are removed when the store is opened, those of living ones are not', async () => {
    const path = folders.make()
    await grow(fileTokenStore({ path }), 1)
    const dead = spawnSync(process.execPath, ['--version']).pid
    const [pid = '', started = ''] = (await temporaryNameOfASave(path)).split('.').slice(2, 4)
    expect(pid).toBe(String(process.pid))
    // A dead process, a living process id that was given to another since, and this process.
    leave(path, `${dead}.1`, `${pid}.1`, `${pid}.${started}`)
    await fileTokenStore({ path }).read(account)
    expect(readdirSync(join(path, 'tmp'))).toEqual([expect.stringContaining(`.${pid}.${started}.`)])
  })

  test.each<[string, (path: string) => Promise<void>]>([
    ['somebody else is faster', (path) => systemDisk.unlink(path)],
    ['the file system is read-only', () => Promise.reject(systemError('EROFS', 'unlink'))],
  ])('do not keep a store from being read although %s', async (_why, before) => {
    const path = folders.make()
    await grow(fileTokenStore({ path }), 1)
    leave(path, `${spawnSync(process.execPath, ['--version']).pid}.1`)
    const disk = watched(async (call, proceed) => {
      if (call.name === 'unlink') await before(String(call.arguments[0]))
      return proceed()
    })
    expect(await createStore(disk, { path }).read(account)).toMatchObject({ version: 1 })
  })

  test('of somebody else’s making are left alone', async () => {
    const path = folders.make()
    await grow(fileTokenStore({ path }), 1)
    writeFileSync(join(path, 'tmp', 'notes.txt'), 'mine')
    await fileTokenStore({ path }).read(account)
    expect(readdirSync(join(path, 'tmp'))).toEqual(['notes.txt'])
  })
})

/** The name of the temporary file that stood while something was saved. */
async function temporaryNameOfASave(path: string): Promise<string> {
  const names: string[] = []
  const disk = watched((call, proceed) => {
    if (call.name === 'link') names.push(basename(String(call.arguments[0])))
    return proceed()
  })
  await grow(createStore(disk, { path }), 1)
  return names.join()
}

test('three versions are kept: the newest, and two to fall back to', async () => {
  const path = folders.make()
  const store = fileTokenStore({ path })
  for (const [count, names] of [
    [3, ['t.1', 't.2', 't.3']],
    [1, ['t.2', 't.3', 't.4']],
    [2, ['t.4', 't.5', 't.6']],
  ] as const) {
    await grow(store, count)
    expect(filesBelow(path).map((name) => basename(name))).toEqual(names)
  }
})

test.each([
  ['its temporary file', 1, /\/tmp\/[0-9a-f]{64}\./u, false],
  ['an older version', 3, /\/t\.1$/u, false],
  ['all older versions', 3, /\/t\.\d$/u, true],
])('a save answers after %s is removed', async (_name, versions, path, forgetOlder) => {
  const folder = folders.make()
  await grow(fileTokenStore({ path: folder }), versions)
  const events: string[] = []
  let others = 0
  const slow = watched(async (call, proceed) => {
    if (call.name === 'unlink' && path.test(String(call.arguments[0]))) {
      // Long after all else has ended: what is not waited for comes after the answer.
      for (let quiet = 0; quiet < 100; quiet = others === 0 ? quiet + 1 : 0) await setImmediate()
      await proceed()
      return events.push('removed')
    }
    others += 1
    return proceed().finally(() => (others -= 1))
  })
  await createStore(slow, { path: folder }).swap(account, versions, sample(4), 'next', { forgetOlder })
  events.push('answered')
  expect(events.length).toBeGreaterThan(1)
  expect(events.at(-1)).toBe('answered')
})

test('D5: three hundred versions later there are no more than five files', async () => {
  const path = folders.make()
  const store = fileTokenStore({ path })
  for (let round = 0; round < 10; round += 1) {
    await grow(store, 30)
    expect(filesBelow(path).length).toBeLessThanOrEqual(5)
  }
  expect((await store.read(account))?.version).toBe(300)
})
