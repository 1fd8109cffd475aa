/** Opening a folder that isn't there yet, and where none can be. */
import { once } from 'node:events'
import { chmodSync, mkdirSync, rmSync, statSync, watch, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from '@jest/globals'
import { createTokenManager, type TokenSet, type TokenStore } from '@owner-sso/token-manager'
import { systemDisk } from '../src/disk.ts'
import { createStore } from '../src/file-token-store.ts'
import { fileTokenStore } from '../src/index.ts'
import { systemError, watched } from './faulty-disk.ts'
import { account, filesBelow, folderOf, grow, sample } from './samples.ts'
import { scratchFolders } from './scratch-folder.ts'

const folders = scratchFolders()

describe('a path whose folders are missing', () => {
  test('is made, private, and each new name is synced', async () => {
    const path = join(folders.make(), 'several', 'below')
    const synced = new Set<unknown>()
    const disk = watched((call, proceed) => {
      if (call.name === 'open') synced.add(call.arguments[0])
      return proceed()
    })
    expect(await createStore(disk, { path }).read(account)).toBeUndefined()
    for (let made = path; made !== dirname(dirname(dirname(path))); made = dirname(made)) {
      expect(statSync(made).mode & 0o777).toBe(0o700)
      expect([...synced]).toContain(dirname(made))
    }
  })

  test('is shared by processes that make it at the same moment', async () => {
    const path = join(folders.make(), 'below')
    const disk = watched((call, proceed) => {
      if (call.name === 'mkdir') mkdirSync(String(call.arguments[0]), { recursive: true, mode: 0o700 })
      return proceed()
    })
    expect(await createStore(disk, { path }).swap(account, 0, sample(1), 'one')).toMatchObject({ version: 1 })
  })
})

test('an account’s folder is checked once', async () => {
  const path = folders.make()
  const disk = watched((call, proceed) => {
    if (call.name === 'lstat' && call.arguments[0] === folderOf(path)) looks += 1
    return proceed()
  })
  let looks = 0
  const store = createStore(disk, { path })
  await grow(store, 3)
  await store.read(account)
  expect(looks).toBe(1)
})

test('a path is relative to the folder in which the store was made', async () => {
  const [before, path] = [process.cwd(), folders.make()]
  process.chdir(dirname(path))
  let store: TokenStore
  try {
    store = createStore(systemDisk, { path: 'tokens' })
  } finally {
    process.chdir(before)
  }
  await grow(store, 1)
  expect(await fileTokenStore({ path }).read(account)).toMatchObject({ version: 1 })
})

test('a watch tells of new versions alone, and keeps no process alive', async () => {
  const path = folders.make()
  const store = fileTokenStore({ path })
  await grow(store, 1)
  const folder = folderOf(path)
  let [told, isTold] = [0, (): void => undefined]
  const end = store.watch?.(account, () => {
    told += 1
    isTold()
  })
  expect(process.getActiveResourcesInfo()).not.toContain('FSEventWrap')
  const other = watch(folder, { persistent: false })
  writeFileSync(join(folder, 'x.1'), '')
  await once(other, 'change')
  await setImmediate()
  expect(told).toBe(0)
  const first = new Promise<void>((resolve) => (isTold = resolve))
  await grow(store, 1)
  await first
  end?.()
  const before = told
  const seen = once(other, 'change')
  await grow(store, 1)
  await seen
  await setImmediate()
  other.close()
  expect(told).toBe(before)
  expect(store.watch?.('nobody', () => undefined)()).toBeUndefined()
})

describe('a folder that is removed while the store is open', () => {
  test('is made again by the next first save, private as before; no account in it is remembered', async () => {
    const path = folders.make()
    const store = fileTokenStore({ path })
    await grow(store, 3)
    await grow(store, 1, 'bob@example.com')
    rmSync(path, { recursive: true })
    expect(await store.read(account)).toBeUndefined()
    expect(await store.swap(account, 3, sample(4), 'four')).toEqual({ conflict: true })
    expect(await store.swap(account, 0, sample(1), 'anew')).toMatchObject({ version: 1, record: sample(1) })
    for (const made of [path, join(path, 'tmp')]) expect(statSync(made).mode & 0o777).toBe(0o700)
    await grow(store, 2)
    expect(await fileTokenStore({ path }).read(account)).toMatchObject({ version: 3, record: sample(3) })
  })

  test.each(['write', 'link'] as const)('in the middle of a save, before its %s, is made again once', async (name) => {
    const path = folders.make()
    let [removed, calls] = [false, 0]
    const disk = watched((call, proceed) => {
      calls += 1
      if (call.name === name && !removed) {
        removed = true
        rmSync(path, { recursive: true })
      }
      return proceed()
    })
    const store = createStore(disk, { path })
    expect(await store.swap(account, 0, sample(1), 'one')).toMatchObject({ version: 1 })
    expect(removed).toBe(true)
    expect(calls).toBeLessThan(200)
    expect(await fileTokenStore({ path }).read(account)).toMatchObject({ version: 1 })
  })

  test('lets a sign-in through, without another process', async () => {
    const path = folders.make()
    const sso = { refresh: () => Promise.reject(new Error('It is not refreshed here.')) }
    const tokens = createTokenManager({ issuer: sso, store: fileTokenStore({ path }) })
    const tokenSet = (name: string): TokenSet => ({
      access_token: `access-${name}`,
      refresh_token: `refresh-${name}`,
      token_type: 'Bearer',
      expires_at: Date.now() / 1000 + 28_800,
      auth_url: 'http://127.0.0.1:9',
    })
    await tokens.save(account, tokenSet('old'))
    rmSync(path, { recursive: true })
    await tokens.save(account, tokenSet('new'))
    expect(await tokens.getAccessToken(account)).toBe('access-new')
    expect((await fileTokenStore({ path }).read(account))?.record).toMatchObject({ state: 'signed-in' })
  })

  test('is an error at once where it can’t be made again', async () => {
    const path = folders.make()
    let calls = 0
    const store = createStore(
      watched((_call, proceed) => {
        calls += 1
        return proceed()
      }),
      { path },
    )
    await grow(store, 1)
    rmSync(dirname(path), { recursive: true })
    writeFileSync(dirname(path), '')
    calls = 0
    await expect(store.swap(account, 0, sample(1), 'anew')).rejects.toMatchObject({ reason: 'write-failed' })
    expect(calls).toBeLessThan(20)
  })

  test('is rejected where a folder that is not private has taken its place', async () => {
    const path = folders.make()
    const store = fileTokenStore({ path })
    await grow(store, 1)
    rmSync(path, { recursive: true })
    mkdirSync(folderOf(path), { recursive: true })
    chmodSync(path, 0o777)
    await expect(store.swap(account, 0, sample(1), 'anew')).rejects.toMatchObject({ reason: 'permissions' })
    expect(filesBelow(path)).toEqual([])
  })
})

const isLinux = process.platform === 'linux'
if (!isLinux) console.warn('Skipped: only Linux has a /proc, in which nobody can make a folder.')
const onLinux = isLinux ? describe : describe.skip

onLinux('a path below /proc', () => {
  test('is an error at once', async () => {
    const store = fileTokenStore({ path: '/proc/owner-sso/tokens' })
    const failure = { code: 'ERR_SSO_STORE', message: expect.stringContaining('choose another path') }
    await expect(store.read(account)).rejects.toMatchObject({ ...failure, reason: 'read-failed' })
    await expect(store.swap(account, 0, sample(1), 'one')).rejects.toMatchObject({ ...failure, reason: 'write-failed' })
  })
})

describe('a path where no folder can be', () => {
  test('on a system that answers ENOENT for ever is an error as well', async () => {
    let calls = 0
    const disk = watched((call, proceed) => {
      calls += 1
      if (call.name === 'mkdir' && calls < 100) return Promise.reject(systemError('ENOENT', 'mkdir'))
      return proceed()
    }, systemDisk)
    const path = folders.make()
    await expect(createStore(disk, { path }).read(account)).rejects.toMatchObject({ reason: 'read-failed' })
    expect(calls).toBeLessThan(20)
  })

  test('below a file is an error that says so', async () => {
    const path = folders.make()
    writeFileSync(path, '')
    const read = fileTokenStore({ path: join(path, 'tokens') }).read(account)
    await expect(read).rejects.toMatchObject({ message: expect.stringContaining('not a folder') })
  })
})
