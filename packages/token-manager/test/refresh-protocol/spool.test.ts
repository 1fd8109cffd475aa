/** The spool: new tokens that the store refused outlive their process, and any other carries them over by the lineage rule. */
import { inspect } from 'node:util'
import { describe, expect, it, jest } from '@jest/globals'
import {
  withEncryption,
  StoreError,
  type TokenManager,
  type TokenManagerOptions,
  type TokenStore,
} from '../../src/index.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'
import { account, anyRecord, bench, hours } from './harness.ts'

/** A process refreshes and is cut off from the store, for ever: the result is in the spool, and the store is down. */
async function leftInSpool(spool: TokenStore = mapStore()) {
  const world = bench()
  let connected = true
  const reached = async <Value>(operation: () => Promise<Value>): Promise<Value> => {
    if (!connected) throw new Error('no connection')
    return operation()
  }
  const store: TokenStore = {
    read: (name) => reached(() => world.store.read(name)),
    swap: (...write) => reached(() => world.store.swap(...write)),
  }
  const holder = world.process({ spool, store })
  const heard: unknown[] = []
  holder.on('unsaved', (event) => heard.push(event.spooled))
  await holder.save(account, world.tokens())
  await world.pass(hours(8))
  world.answer = (...call) => {
    connected = false
    world.store.down = true
    return world.newTokens(...call)
  }
  expect(await holder.getAccessToken(account)).toBe('a1')
  world.answer = world.newTokens
  return { world, spool, heard, holder, next: (): TokenManager => world.process({ spool }) }
}

/** The same of two accounts, and the store is back. */
async function twoLeftInSpool() {
  const { world, spool } = await leftInSpool()
  const waiting = await spool.read(account)
  if (waiting === undefined) throw new Error('nothing is in the spool')
  const both = mapStore()
  await both.swap('another', 0, waiting.record, 'another')
  await both.swap(account, 0, waiting.record, 'own')
  world.store.down = false
  return { world, both }
}

const spooled = async (spool: TokenStore): Promise<unknown> => (await spool.read(account))?.record

describe('a result that the store refuses', () => {
  it('is kept in the spool, and settled() waits for nothing more', async () => {
    const { spool, heard, holder } = await leftInSpool()
    expect(heard).toEqual([true])
    expect(await spooled(spool)).toMatchObject({
      state: 'spooled',
      result: { next: { tokens: { access_token: 'a1' } } },
    })
    await holder.settled()
    expect(await holder.getAccessToken(account)).toBe('a1')
  })

  it('is nowhere but in memory where the spool fails as well, until one of them takes it', async () => {
    const broken = { ...mapStore(), down: true }
    const read = broken.read.bind(broken)
    broken.read = async (name) => {
      if (broken.down) throw new Error('the disk is full')
      return read(name)
    }
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    try {
      const { world, heard } = await leftInSpool(broken)
      expect(heard).toEqual([false])
      broken.down = false
      await world.pass(16_000)
      expect(await spooled(broken)).toMatchObject({ result: { next: { tokens: { access_token: 'a1' } } } })
      expect(warn.mock.calls).toEqual([[expect.stringContaining('spool failed (unavailable)'), expect.anything()]])
      expect(inspect(warn.mock.calls)).not.toMatch(/[ar][01]\b|disk/u)
    } finally {
      warn.mockRestore()
    }
  })
})

describe('what waits in the spool', () => {
  it('is carried over by the next look at the account, once, and told of by one', async () => {
    const { world, spool, next } = await leftInSpool()
    const others = [next(), next()]
    const heard: unknown[] = []
    for (const other of others) other.on('carried-over', (event) => heard.push(event))
    world.store.down = false
    expect(await Promise.all(others.map((other) => other.getAccessToken(account)))).toEqual(['a1', 'a1'])
    await world.pass(1000)
    expect(heard).toEqual([{ account }])
    expect(await spooled(spool)).toEqual({ schema: 1, state: 'spooled' })
    expect(world.sent).toEqual(['r0'])
  })

  it('comes before the end of a wait: its holder’s intent still counts as alive', async () => {
    const { world, next } = await leftInSpool()
    world.liveness.set(1, 'running')
    const waiter = next()
    world.store.down = false
    const waiting = waiter.getAccessToken(account)
    await world.pass(0)
    expect(await waiting).toBe('a1')
  })

  it('is carried over once the store is back, by a process that nobody asks', async () => {
    const { world, spool, next } = await leftInSpool()
    next()
    await world.pass(60_000)
    expect(await spooled(spool)).toHaveProperty('result')
    world.store.down = false
    await world.pass(20_000)
    expect(await spooled(spool)).not.toHaveProperty('result')
    expect((await world.store.read(account))?.record).toMatchObject({ tokens: { access_token: 'a1' } })
  })

  it('is carried over though the record of another account is damaged', async () => {
    const { world, both } = await twoLeftInSpool()
    const read = world.store.read.bind(world.store)
    world.store.read = async (name) => {
      if (name === 'another') throw new StoreError('corrupt', 'The record is damaged.')
      return read(name)
    }
    world.process({ spool: both })
    await world.pass(1000)
    expect((await world.store.read(account))?.record).toMatchObject({ tokens: { access_token: 'a1' } })
    expect(await spooled(both)).toEqual({ schema: 1, state: 'spooled' })
  })

  it('is carried over though the record of another account can’t be written', async () => {
    const { world, both } = await twoLeftInSpool()
    const swap = world.store.swap.bind(world.store)
    world.store.swap = async (name, ...rest) => {
      if (name === 'another') throw new StoreError('write-failed', 'Not this record.')
      return swap(name, ...rest)
    }
    world.process({ spool: both })
    await world.pass(1000)
    expect((await world.store.read(account))?.record).toMatchObject({ tokens: { access_token: 'a1' } })
    world.store.swap = swap
    await world.pass(16_000)
    expect((await world.store.read('another'))?.record).toMatchObject({ tokens: { access_token: 'a1' } })
  })

  it('is told by status(), so that nobody signs in for nothing', async () => {
    const { world, next } = await leftInSpool()
    world.store.down = false
    expect(await next().status(account)).toMatchObject({ state: 'valid' })
  })

  it.each<[string, (tokens: TokenManager, world: ReturnType<typeof bench>) => Promise<void>, string]>([
    ['a sign-out', (tokens) => tokens.forget(account), 'signed-out'],
    [
      'a sign-in',
      (tokens, world) => tokens.save(account, world.tokens({ access_token: 'again', refresh_token: 'new' })),
      'signed-in',
    ],
  ])('does not undo %s, which takes it out', async (_, call, state) => {
    const { world, spool } = await leftInSpool()
    world.store.down = false
    // Of a process that has no spool: the tokens are left in there.
    await call(world.process(), world)
    const tokens = world.process({ spool })
    await world.pass(1000)
    expect(await spooled(spool)).toEqual({ schema: 1, state: 'spooled' })
    expect((await world.store.read(account))?.record).toMatchObject({ state })
    expect(JSON.stringify((await world.store.read(account))?.record)).not.toContain('a1')
    await tokens.settled()
  })

  it('and could not be taken out is in doubt where the store has lost it: what was spent since is not sent again', async () => {
    const readOnly = { ...mapStore(), full: false }
    const swap = readOnly.swap.bind(readOnly)
    readOnly.swap = async (...write) => {
      if (readOnly.full) throw new Error('the disk is full')
      return swap(...write)
    }
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    const { world, spool, next } = await leftInSpool(readOnly)
    readOnly.full = true
    world.store.down = false
    const keeper = next()
    expect(await keeper.getAccessToken(account)).toBe('a1')
    expect(await spooled(spool)).toHaveProperty('result')
    await world.pass(hours(8))
    expect(await keeper.getAccessToken(account)).toBe('a2')
    world.store.clear()
    const newcomer = next()
    const call = newcomer.getAccessToken(account)
    await world.pass(60_000)
    expect(world.sent).toEqual(['r0', 'r1'])
    await world.rollCall()
    await world.pass(1000)
    expect(await call).toBe('a2')
    expect(world.sent).toEqual(['r0', 'r1'])
    warn.mockRestore()
  })

  it('is taken out by its own process, once a sign-in has made it worthless', async () => {
    const { world, spool } = await leftInSpool()
    world.store.down = false
    const holder = world.process({ spool })
    await world.pass(0)
    world.answer = (...call) => {
      world.store.down = true
      return world.newTokens(...call)
    }
    await world.pass(hours(8))
    expect(await holder.getAccessToken(account)).toBe('a2')
    expect(await spooled(spool)).toHaveProperty('result')
    world.store.down = false
    // Of a process that has no spool.
    await world.process().save(account, world.tokens({ access_token: 'again', refresh_token: 'new' }))
    await world.pass(16_000)
    await holder.status(account)
    expect(await spooled(spool)).toEqual({ schema: 1, state: 'spooled' })
    expect(await holder.getAccessToken(account)).toBe('again')
  })

  it('is sealed where the spool is', async () => {
    const beneath = mapStore()
    const { world, next } = await leftInSpool(withEncryption(beneath, [Buffer.alloc(32, 7)]))
    expect(JSON.stringify(await beneath.read(account))).not.toMatch(/"(?:a1|r1|r0|access_token)"/u)
    world.store.down = false
    expect(await next().getAccessToken(account)).toBe('a1')
  })

  it('is no record of this account where somebody else wrote it: the store alone decides', async () => {
    const { world, spool, next } = await leftInSpool()
    const stands = await spool.read(account)
    await spool.swap(account, stands?.version ?? 0, anyRecord({ schema: 1, state: 'spooled', result: {} }), 'poisoned')
    world.store.down = false
    world.liveness.set(1, 'dead')
    expect(await next().getAccessToken(account)).toBe('a2')
    expect(world.sent).toEqual(['r0', 'r0'])
  })
})

describe('the option', () => {
  const sealed = withEncryption(mapStore(), [Buffer.alloc(32)])
  const plain = mapStore()
  it.each<[string, Partial<TokenManagerOptions>]>([
    ['spool must be a token store', { spool: JSON.parse('{}') }],
    ['spool must be a different token store from store', { store: plain, spool: plain }],
    ['spool must be sealed because store is: give it an encryption key', { store: sealed, spool: plain }],
    ['spool must be sealed because store is: give it an encryption key', { store: { ...sealed }, spool: plain }],
  ])('that is wrong is told: %s', (message, options) => {
    expect(() => bench().process(options)).toThrow(new TypeError(message))
  })
})
