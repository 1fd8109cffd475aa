/** B-D D3: a file that is not what was written is never taken for a record, nor thrown away. */
import { copyFileSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import type { TokenRecord } from '@owner-sso/token-manager'
import * as fc from 'fast-check'
import { type Disk, systemDisk } from '../src/disk.ts'
import { createStore } from '../src/file-token-store.ts'
import { fileTokenStore } from '../src/index.ts'
import { expectDamageIsMended } from '../../../tests/support/damaged-record.ts'
import { systemError, watched } from './faulty-disk.ts'
import { account, filesBelow, folderOf, grow, rounds, sample } from './samples.ts'
import { scratchFolders } from './scratch-folder.ts'

const folders = scratchFolders()
const slotPath = (path: string, slot: number, name = account): string => join(folderOf(path, name), `t.${slot}`)

type Mutation = (content: Buffer) => Buffer
const mutations: fc.Arbitrary<Mutation> = fc.oneof(
  fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }).map(
    (part): Mutation =>
      (content) =>
        content.subarray(0, Math.floor(part * content.length)),
  ),
  fc.tuple(fc.nat(), fc.integer({ min: 0, max: 7 })).map(([at, bit]): Mutation => (content) => {
    const flipped = Buffer.from(content)
    const index = at % content.length
    flipped[index] = (flipped[index] ?? 0) ^ (1 << bit)
    return flipped
  }),
  fc.tuple(fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 50 })).map(([at, bytes]): Mutation => (content) => {
    const index = at % (content.length + 1)
    return Buffer.concat([content.subarray(0, index), bytes, content.subarray(index)])
  }),
  fc.uint8Array({ maxLength: 200 }).map(
    (bytes): Mutation =>
      () =>
        Buffer.from(bytes),
  ),
  fc.constant<Mutation>((content) => Buffer.alloc(content.length)),
  fc.constant<Mutation>((content) => Buffer.concat([content, content])),
)

describe('a damaged file', () => {
  test('is passed over for the newest whole one, and left as it is', async () => {
    const path = folders.make()
    const store = fileTokenStore({ path })
    await grow(store, 3)
    const whole = readFileSync(slotPath(path, 3))
    await fc.assert(
      fc.asyncProperty(mutations, async (mutate) => {
        const damaged = mutate(whole)
        fc.pre(!damaged.equals(whole))
        writeFileSync(slotPath(path, 3), damaged)
        expect(await store.read(account)).toMatchObject({ version: 2, record: sample(2) })
        expect(readFileSync(slotPath(path, 3)).equals(damaged)).toBe(true)
      }),
      { numRuns: rounds(400, 10_000) },
    )
  })

  test('does not stop the next write, which gets a higher version', async () => {
    const path = folders.make()
    const store = fileTokenStore({ path })
    await grow(store, 3)
    truncateSync(slotPath(path, 3), 100)
    expect(await store.swap(account, 3, sample(9), 'stale')).toEqual({ conflict: true })
    expect(await store.swap(account, 2, sample(3), 'again')).toMatchObject({ version: 3, record: sample(3) })
    expect(readFileSync(slotPath(path, 3))).toHaveLength(100)
    await grow(store, 5)
    expect(await store.read(account)).toMatchObject({ version: 8, record: sample(8) })
    expect(filesBelow(path).length).toBeLessThanOrEqual(5)
  })

  test('is an error where no whole one is left, and is never overwritten by an empty account', async () => {
    const path = folders.make()
    const store = fileTokenStore({ path })
    await grow(store, 3)
    for (const slot of [1, 2, 3]) truncateSync(slotPath(path, slot), 0)
    const before = filesBelow(path)
    await expect(store.read(account)).rejects.toMatchObject({ reason: 'corrupt' })
    await expect(store.swap(account, 0, sample(1), 'anew')).rejects.toMatchObject({ reason: 'corrupt' })
    expect(filesBelow(path)).toEqual(before)
    // The others can still be listed; the damaged one is not passed over in silence.
    await grow(store, 1, 'bob@example.com')
    const names: string[] = []
    const list = async (): Promise<void> => {
      for await (const name of store.accounts?.() ?? []) names.push(name)
    }
    await expect(list()).rejects.toMatchObject({ reason: 'corrupt' })
    expect(names).toEqual(['bob@example.com'])
  })

  test.each<[string, (path: string) => void]>([
    ['empty', (path) => truncateSync(path, 0)],
    ['torn', (path) => truncateSync(path, 60)],
    ['of something else', (path) => writeFileSync(path, 'garbage')],
  ])('in a record of our own, each %s, is replaced; in an account’s it is left as it is', async (what, tear) => {
    const path = folders.make()
    const damage = async (name: string): Promise<void> => {
      const folder = folderOf(path, name)
      for (const file of readdirSync(folder)) tear(join(folder, file))
    }
    await expectDamageIsMended(fileTokenStore({ path }), `https://file.${what.length}.example`, damage)
  })

  test('of ten megabytes is not read', async () => {
    const path = folders.make()
    const store = fileTokenStore({ path })
    await grow(store, 2)
    writeFileSync(slotPath(path, 3), Buffer.alloc(10 * 1024 * 1024), { mode: 0o600 })
    const places: unknown[] = []
    const disk = watched(({ name, arguments: given }, proceed) => {
      if (name === 'read') places.push(given.at(-1))
      return proceed()
    })
    expect(await createStore(disk, { path }).read(account)).toMatchObject({ version: 2, record: sample(2) })
    expect(places).toEqual([0, 0])
  })
})

describe('a file larger than one read', () => {
  const large = (number: number): TokenRecord => Object.assign(sample(number), { more: 'x'.repeat(15_500) })

  /** What the system gives of the file beyond the first read: so many bytes each time. */
  const giving = (bytes: number): Disk => ({
    ...systemDisk,
    read: (fd, buffer, offset) =>
      systemDisk.read(fd, offset === 0 ? buffer : buffer.subarray(0, offset + bytes), offset),
  })

  test('is read in parts where the system gives it in parts, and is corrupt where it was cut meanwhile', async () => {
    const path = folders.make()
    const store = fileTokenStore({ path })
    await store.swap(account, 0, large(1), 'one')
    await store.swap(account, 1, large(2), 'two')
    const parts = createStore(giving(1), { path })
    expect(await parts.read(account)).toMatchObject({ version: 2, record: large(2) })
    await expect(createStore(giving(0), { path }).read(account)).rejects.toMatchObject({ reason: 'corrupt' })
  })
})

describe('a file that is damaged at the first read alone', () => {
  test('does not make a repeated write be applied twice', async () => {
    const path = folders.make()
    await grow(fileTokenStore({ path }), 3)
    let looks = 0
    const disk: Disk = {
      ...systemDisk,
      // The newest comes first.
      read: async (fd, buffer, offset) => {
        const length = await systemDisk.read(fd, buffer, offset)
        if ((looks += 1) === 1) buffer.fill(0, 0, 10)
        return length
      },
    }
    const late = createStore(disk, { path }).swap(account, 2, sample(-3), 'late')
    expect(await late).toEqual({ conflict: true })
    expect(looks).toBeGreaterThan(2)
    expect(await fileTokenStore({ path }).read(account)).toMatchObject({ version: 3, record: sample(3) })
  })

  test('is read at the second try, also where it is the only one', async () => {
    const path = folders.make()
    await grow(fileTokenStore({ path }), 1)
    let looks = 0
    const disk: Disk = {
      ...systemDisk,
      read: async (...given) => ((looks += 1) <= 2 ? 0 : systemDisk.read(...given)),
    }
    expect(await createStore(disk, { path }).read(account)).toMatchObject({ version: 1, record: sample(1) })
  })

  test('is not tried for ever where its folder changes all the time', async () => {
    const path = folders.make()
    await grow(fileTokenStore({ path }), 1)
    const disk = watched((call, proceed) => {
      if (call.name === 'open' && String(call.arguments[0]).endsWith('t.1'))
        return Promise.reject(systemError('ENOENT', 'open'))
      return proceed()
    })
    await expect(createStore(disk, { path }).read(account)).rejects.toMatchObject({ reason: 'busy' })
  })
})

describe('a whole file in the wrong place', () => {
  test('of another account is no record of this one', async () => {
    const path = folders.make()
    const store = fileTokenStore({ path })
    await grow(store, 2)
    await grow(store, 3, 'bob@example.com')
    copyFileSync(slotPath(path, 3, 'bob@example.com'), slotPath(path, 3))
    expect(await store.read(account)).toMatchObject({ version: 2, record: sample(2) })
  })

  test('of an older version does not become the newest', async () => {
    const path = folders.make()
    const store = fileTokenStore({ path })
    await grow(store, 3)
    copyFileSync(slotPath(path, 1), slotPath(path, 4))
    expect(await store.read(account)).toMatchObject({ version: 3, record: sample(3) })
    rmSync(slotPath(path, 4))
  })
})

describe('the format', () => {
  test('of a later release is an error, not a reason to fall back to a spent token', async () => {
    const path = folders.make()
    await grow(fileTokenStore({ path }), 3)
    const [, body = ''] = readFileSync(slotPath(path, 3), 'utf8').split('\n')
    const later = body.replace('"schema":1', '"schema":2')
    const checksum = createHash('sha256').update(later).digest('base64url')
    writeFileSync(slotPath(path, 3), `${checksum}\n${later}`)
    const store = fileTokenStore({ path })
    await expect(store.read(account)).rejects.toMatchObject({ reason: 'newer-release' })
    await expect(store.swap(account, 3, sample(4), 'four')).rejects.toMatchObject({ reason: 'newer-release' })
  })

  test('takes records up to four megabytes, and rejects larger ones', async () => {
    const megabytes = (count: number): TokenRecord =>
      Object.assign(sample(1), { filling: 'x'.repeat(count * 1024 * 1024) })
    const store = fileTokenStore({ path: folders.make() })
    await expect(store.swap(account, 0, megabytes(4), 'large')).rejects.toMatchObject({ reason: 'write-failed' })
    expect(await store.swap(account, 0, megabytes(3.9), 'less')).toMatchObject({ version: 1 })
    expect(await store.read(account)).toMatchObject({ version: 1, record: megabytes(3.9) })
  })
})
