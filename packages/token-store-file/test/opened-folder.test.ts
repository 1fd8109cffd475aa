/** Opening a folder that isn't there yet, and where none can be. */
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { systemDisk } from '../src/disk.ts'
import { storeOn } from '../src/file-token-store.ts'
import { fileTokenStore } from '../src/index.ts'
import { systemError, watched } from './faulty-disk.ts'
import { account, sample } from './samples.ts'
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
    expect(await storeOn(disk, { path }).read(account)).toBeUndefined()
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
    expect(await storeOn(disk, { path }).swap(account, 0, sample(1), 'one')).toMatchObject({ version: 1 })
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
    await expect(storeOn(disk, { path }).read(account)).rejects.toMatchObject({ reason: 'read-failed' })
    expect(calls).toBeLessThan(20)
  })

  test('below a file is an error that says so', async () => {
    const path = folders.make()
    writeFileSync(path, '')
    const read = fileTokenStore({ path: join(path, 'tokens') }).read(account)
    await expect(read).rejects.toMatchObject({ message: expect.stringContaining('no folder') })
  })
})
