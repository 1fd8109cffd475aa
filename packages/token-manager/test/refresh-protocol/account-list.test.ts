/** Listing the accounts of a store, and copying them into another one. */
import { describe, expect, it } from '@jest/globals'
import {
  copyTokenSets,
  firewallRecordName,
  keepSignedIn,
  type KeeperEvent,
  notebook,
  rekey,
  withEncryption,
  StoreError,
} from '../../src/index.ts'
import { type MapStore, mapStore } from '../../../../tests/support/map-store.ts'
import { anyRecord, bench, idle, namesIn } from './harness.ts'

describe('a manager', () => {
  it('lists who is signed in or has to sign in again', async () => {
    const world = bench()
    const tokens = world.process()
    for (const name of ['one', 'two', 'three']) await tokens.save(name, world.tokens({ refresh_token: name }))
    await tokens.forget('two')
    const names = await namesIn(tokens)
    expect(names).toEqual(['one', 'three'])
    const read = world.store.read.bind(world.store)
    const unlisted = world.process({ store: { read, swap: world.store.swap.bind(world.store) } })
    await expect(unlisted.accounts()[Symbol.asyncIterator]().next()).rejects.toThrow(TypeError)
  })

  it('lists all that it can read, and then says that a record needs a key, or is none', async () => {
    const world = bench()
    await world.process().save('one', world.tokens({ refresh_token: 'one' }))
    const sealed = withEncryption(world.store, [Buffer.alloc(32, 1)])
    await world.process({ store: sealed }).save('two', world.tokens())
    await world.process().save('three', world.tokens({ refresh_token: 'three' }))
    const names: string[] = []
    const list = async (): Promise<void> => {
      for await (const name of world.process().accounts()) names.push(name)
    }
    await expect(list()).rejects.toMatchObject({ code: 'ERR_SSO_STORE', reason: 'wrong-key' })
    expect(names).toEqual(['one', 'three'])
    const sealedStatus = world.process().status('two')
    await expect(sealedStatus).rejects.toMatchObject({ reason: 'wrong-key' })
    // Nor is it overwritten by somebody who forgot the key.
    await expect(world.process().save('two', world.tokens())).rejects.toMatchObject({ reason: 'wrong-key' })
    for (const [schema, reason] of [
      [2, 'newer-release'],
      [1, 'corrupt'],
    ]) {
      world.store.put('two', { version: 9, record: anyRecord({ schema, state: 'of a later release' }) })
      await expect(list()).rejects.toMatchObject({ reason })
    }
  })
})

describe('a store that fails once it has listed all that it can read', () => {
  const unread = new StoreError('corrupt', 'No record is intact.')

  /** Signed in: so many accounts. Beside them is one whose name the store can't tell. */
  async function withUnreadName(count: number) {
    const world = bench()
    for (let index = 0; index < count; index += 1)
      await world.process().save(`owner-${index}`, world.tokens({ refresh_token: `r-${index}` }))
    const store: MapStore = {
      ...world.store,
      async *accounts() {
        yield* world.store.accounts()
        throw unread
      },
    }
    return {
      store,
      tokens: world.process({ store }),
      names: Array.from({ length: count }, (_, index) => `owner-${index}`),
    }
  }

  it.each([1, 99, 100, 101])('has a list of its %i others', async (count) => {
    const { tokens, names } = await withUnreadName(count)
    const listed: string[] = []
    const list = async (): Promise<void> => {
      for await (const name of tokens.accounts()) listed.push(name)
    }
    await expect(list()).rejects.toBe(unread)
    expect(listed).toEqual(names)
  })

  it('is kept, copied and given another key, but for that one', async () => {
    const { store, tokens, names } = await withUnreadName(3)
    const sweeps: KeeperEvent[] = []
    const keeper = keepSignedIn(tokens, {
      onSweep: (event) => void (event.phase === 'surveyed' && sweeps.push(event)),
    })
    while (sweeps.length === 0) await idle()
    expect(sweeps).toEqual([expect.objectContaining({ accounts: 3, unreadable: 1 })])
    await keeper[Symbol.asyncDispose]()
    const target = mapStore()
    await expect(copyTokenSets(store, target)).rejects.toBe(unread)
    const copied = await namesIn(target)
    expect(copied).toEqual(expect.arrayContaining(names))
    const [oldKey, newKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
    const place = mapStore()
    await copyTokenSets(target, withEncryption(place, [oldKey]))
    const failing: MapStore = {
      ...place,
      async *accounts() {
        yield* place.accounts()
        throw unread
      },
    }
    const both = withEncryption(failing, [newKey, oldKey])
    const newAlone = withEncryption(failing, [newKey])
    await expect(rekey(both, newAlone)).rejects.toBe(unread)
    for (const name of names) expect(await newAlone.read(name)).toBeDefined()
  })
})

describe('copying token sets', () => {
  it('takes every record over as it is, and none over a newer one', async () => {
    const world = bench()
    const tokens = world.process()
    for (const name of ['one', 'two', 'three'])
      await tokens.save(name, world.tokens({ access_token: name, refresh_token: name }))
    await tokens.forget('two')
    const target = mapStore()
    expect(await copyTokenSets(world.store, target)).toBe(3)
    for (const name of ['one', 'two', 'three']) {
      const { history, ...copy } = { history: '', ...(await target.read(name))?.record }
      expect({ history: expect.any(String), ...copy }).toEqual((await world.store.read(name))?.record)
      expect(history).toMatch(/; ?\d+ copied [^;]*$/u)
    }
    await world.process({ store: target }).refresh('one')
    expect(await copyTokenSets(world.store, target)).toBe(0)
    expect(await world.process({ store: target }).getAccessToken('one')).toBe('a1')
  })

  it('copies all that it can read, and then says what it could not', async () => {
    const world = bench()
    for (const name of ['one', 'two', 'three', 'four'])
      await world.process().save(name, world.tokens({ refresh_token: name }))
    world.store.put('one', { version: 1, record: anyRecord({ hello: 'world' }) })
    world.store.put('three', { version: 1, record: anyRecord(null) })
    const target = mapStore()
    const corrupt = { code: 'ERR_SSO_STORE', reason: 'corrupt' }
    await expect(copyTokenSets(world.store, target)).rejects.toMatchObject(corrupt)
    const copied: string[] = []
    for await (const name of target.accounts()) if (!name.startsWith('owner-sso:')) copied.push(name)
    expect(copied).toEqual(['two', 'four'])
    world.store.down = true
    await expect(copyTokenSets(world.store, mapStore())).rejects.toMatchObject({ reason: 'unavailable' })
  })

  it('copies all that the target takes, and then says what it did not', async () => {
    const world = bench()
    for (const name of ['one', 'two', 'three']) await world.process().save(name, world.tokens({ refresh_token: name }))
    const target = mapStore()
    const swap: typeof target.swap = async (name, ...rest) => {
      if (name === 'one') throw new StoreError('write-failed', 'The record is too large.')
      return target.swap(name, ...rest)
    }
    const refused = { code: 'ERR_SSO_STORE', reason: 'write-failed' }
    await expect(copyTokenSets(world.store, { ...target, swap })).rejects.toMatchObject(refused)
    const copied: string[] = []
    for await (const name of target.accounts()) if (!name.startsWith('owner-sso:')) copied.push(name)
    expect(copied).toEqual(['two', 'three'])
  })

  it('stops at a sealed record of either store rather than pass it over, and loses nothing', async () => {
    const world = bench()
    await world.process().save('one', world.tokens())
    const sealed = mapStore()
    expect(await copyTokenSets(world.store, withEncryption(sealed, [Buffer.alloc(32, 1)]))).toBe(1)
    const before = await sealed.read('one')
    const wrongKey = { code: 'ERR_SSO_STORE', reason: 'wrong-key' }
    await expect(copyTokenSets(sealed, mapStore())).rejects.toMatchObject(wrongKey)
    await expect(copyTokenSets(world.store, sealed)).rejects.toMatchObject(wrongKey)
    const otherKey = withEncryption(sealed, [Buffer.alloc(32, 2)])
    await expect(copyTokenSets(world.store, otherKey)).rejects.toMatchObject(wrongKey)
    expect(await sealed.read('one')).toEqual(before)
  })
})

describe('copying what a fleet shares', () => {
  const block = (noted_at: number) => ({ schema: 1, state: 'firewall', challenges: 1, noted_at, wait: 900 }) as const
  const name = firewallRecordName('https://issuer.example')

  it('takes over a block that lasts, and the broker’s clients; again only what nobody changed in the target', async () => {
    const [from, to] = [mapStore(), mapStore()]
    const left: string[] = []
    const copy = async () => copyTokenSets(from, to, { onLeft: (record) => void left.push(record) })
    await from.swap(name, 0, block(1000), 'w')
    await notebook(from, 'clients').change(() => ({ clients: ['heating'] }))
    expect(await copy()).toBe(0)
    expect((await to.read(name))?.record).toEqual(block(1000))
    await notebook(from, 'clients').change(() => ({ clients: ['heating', 'car'] }))
    await copy()
    expect(await notebook(to, 'clients').read()).toEqual({ clients: ['heating', 'car'] })
    expect(left).toEqual([])
    await notebook(to, 'clients').change(() => ({ clients: ['heating', 'car', 'house'] }))
    await copy()
    expect(left).toEqual(['owner-sso:notes:clients'])
    expect(await notebook(to, 'clients').read()).toEqual({ clients: ['heating', 'car', 'house'] })
  })

  it('leaves the target its own block, and replaces one that can’t be read', async () => {
    const from = mapStore()
    await from.swap(name, 0, block(2000), 'w')
    for (const [there, then] of [
      [block(1000), block(1000)],
      [JSON.parse('{}'), block(2000)],
    ]) {
      const to = mapStore()
      to.put(name, { version: 3, record: there })
      await copyTokenSets(from, to)
      expect((await to.read(name))?.record).toEqual(then)
    }
  })

  it('says of the broker’s clients that they can’t be read', async () => {
    const from = mapStore()
    from.put('owner-sso:notes:clients', { version: 1, record: JSON.parse('{}') })
    await expect(copyTokenSets(from, mapStore())).rejects.toMatchObject({ reason: 'corrupt' })
    const unread = notebook(from, 'clients').read()
    await expect(unread).rejects.toMatchObject({ message: expect.stringContaining('owner-sso:notes:clients') })
  })
})
