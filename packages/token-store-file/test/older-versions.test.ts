/** What is left in the folder of the records before a sign-in or a sign-out: nothing. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { createTokenManager, type TokenSet } from '@owner-sso/token-manager'
import type { Disk } from '../src/disk.ts'
import { createStore } from '../src/file-token-store.ts'
import { fileTokenStore } from '../src/index.ts'
import { systemError, watched } from './faulty-disk.ts'
import { account, filesBelow, grow, sample } from './samples.ts'
import { scratchFolders } from './scratch-folder.ts'

const folders = scratchFolders()

const slotsBelow = (path: string): string[] => filesBelow(path).map((name) => name.split('/').at(-1) ?? '')
const contents = (path: string): string =>
  filesBelow(path)
    .map((name) => readFileSync(join(path, name), 'utf8'))
    .join()

/** Dies, as far as its disk can tell, before it removes the second of four version files: the first goes anyway. */
function dyingBeforeTheCleaning(): Disk {
  let isDead = false
  return watched((call, proceed) => {
    isDead ||= call.name === 'unlink' && /\/t\.[23]$/u.test(String(call.arguments[0]))
    return isDead ? Promise.reject(systemError('EIO', call.name)) : proceed()
  })
}

test('after a sign-out, and after a new sign-in, no file holds a token of before', async () => {
  const path = folders.make()
  const issued = (name: string): TokenSet => ({
    access_token: `access-${name}`,
    refresh_token: `refresh-${name}`,
    token_type: 'Bearer',
    expires_at: Date.now() / 1000 + 28_800,
    auth_url: 'https://auth.example.com',
  })
  const sso = { refresh: async () => issued('refreshed') }
  const tokens = createTokenManager({ issuer: sso, store: fileTokenStore({ path }), minRefreshInterval: 0 })
  await tokens.save(account, issued('first'))
  await tokens.refresh(account)
  expect(contents(path)).toContain('refresh-first')
  await tokens.save(account, issued('second'))
  expect(contents(path)).toContain('refresh-second')
  expect(contents(path)).not.toMatch(/refresh-(first|refreshed)/u)
  await tokens.refresh(account)
  await tokens.forget(account)
  expect(contents(path)).not.toMatch(/(access|refresh)-(first|second|refreshed)/u)
  expect((await tokens.status(account)).state).toBe('signed-out')
})

test('it is the same where records are sealed', async () => {
  const path = folders.make()
  const store = fileTokenStore({ path, encryptionKey: Buffer.alloc(32, 7) })
  await grow(store, 3)
  await store.swap(account, 3, sample(4), 'four', { forgetOlder: true })
  expect(slotsBelow(path)).toEqual(['t.4'])
})

describe('a swap with forgetOlder', () => {
  test('removes all older versions; later ones are kept again', async () => {
    const path = folders.make()
    const store = fileTokenStore({ path })
    await grow(store, 3)
    await store.swap(account, 3, sample(4), 'four', { forgetOlder: true })
    expect(slotsBelow(path)).toEqual(['t.4'])
    await grow(store, 2)
    expect(slotsBelow(path)).toEqual(['t.4', 't.5', 't.6'])
    expect(await store.read(account)).toMatchObject({ version: 6, record: sample(6) })
  })
})

describe('a process that dies before it has removed the older versions', () => {
  test.each<[string, (path: string) => Promise<unknown>]>([
    ['read', (path) => fileTokenStore({ path }).read(account)],
    ['swap', (path) => fileTokenStore({ path }).swap(account, 4, sample(5), 'five')],
    ['repetition of its own', (path) => fileTokenStore({ path }).swap(account, 3, sample(4), 'four')],
    ['conflict', (path) => fileTokenStore({ path }).swap(account, 1, sample(2), 'two')],
  ])('leaves that to the next %s', async (_name, next) => {
    const path = folders.make()
    await grow(fileTokenStore({ path }), 3)
    const dying = createStore(dyingBeforeTheCleaning(), { path })
    expect(await dying.swap(account, 3, sample(4), 'four', { forgetOlder: true })).toMatchObject({ version: 4 })
    expect(slotsBelow(path)).toEqual(expect.arrayContaining(['t.2', 't.3', 't.4']))
    await next(path)
    expect(slotsBelow(path).filter((name) => name < 't.4')).toEqual([])
  })
})

test('a file system that has become read-only is still read', async () => {
  const path = folders.make()
  await grow(fileTokenStore({ path }), 3)
  await createStore(dyingBeforeTheCleaning(), { path }).swap(account, 3, sample(4), 'four', { forgetOlder: true })
  const readOnly = watched((call, proceed) =>
    ['unlink', 'link'].includes(call.name) ? Promise.reject(systemError('EROFS', call.name)) : proceed(),
  )
  expect(await createStore(readOnly, { path }).read(account)).toMatchObject({ version: 4, record: sample(4) })
})
