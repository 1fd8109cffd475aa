/** A store that was emptied, or set back far: the newest comes back by itself, sign-outs stay, and nothing spent is sent. */
import { createHmac } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import { ReauthenticationRequiredError, StoreError, type TokenManager } from '../../src/index.ts'
import { account, anyRecord, type Bench, bench, deferred, heardBy, hours, idle } from './harness.ts'

const year = hours(24 * 365)
/** Where processes of every release call each other. */
const rollCallName = 'owner-sso:roll-call'

/** Two processes, the first with its clock ahead; both know the first one's sign-in, and its refresh if there is one. */
function twoProcesses(ahead = 0) {
  const world = bench()
  return { world, old: world.process({}, ahead), other: world.process() }
}

/** What anybody else gets, who knows nothing. */
async function storedIn(world: Bench): Promise<unknown> {
  return (await world.store.read(account))?.record
}

describe('after a loss, a process with an older sign-in', () => {
  it.each([
    ['ten minutes', 600_000],
    ['a year', year],
  ])('does not replace a newer one, though its clock is %s ahead', async (_, ahead) => {
    const { world, old, other } = twoProcesses(ahead)
    await old.save(account, world.tokens())
    world.store.clear()
    await other.save(account, world.tokens({ access_token: 'newer', refresh_token: 'newer' }))
    await old.status(account)
    await world.rollCall()
    expect(await world.process().getAccessToken(account)).toBe('newer')
    expect(await storedIn(world)).toMatchObject({ refreshes: 0 })
  })

  it('does not end a newer one with its older sign-out', async () => {
    const { world, old, other } = twoProcesses(600_000)
    await old.save(account, world.tokens())
    await old.forget(account)
    world.store.clear()
    await other.save(account, world.tokens({ access_token: 'newer', refresh_token: 'newer' }))
    expect(await old.status(account)).toMatchObject({ state: 'valid' })
    expect(await old.getAccessToken(account)).toBe('newer')
  })

  it('is harmless for ever, even if the clock of one sign-in was a year ahead for a minute', async () => {
    const { world, old, other } = twoProcesses()
    await world.process({}, year).save(account, world.tokens())
    await old.status(account)
    world.store.clear()
    for (const name of ['second', 'third']) {
      await other.save(account, world.tokens({ access_token: name, refresh_token: name }))
      await old.status(account)
      expect(await storedIn(world)).toMatchObject({ tokens: { access_token: name } })
    }
  })
})

describe('after a loss, a write that began before it', () => {
  it.each(['intent', 'result', 'refusal'] as const)(
    'does not replace a newer sign-in under the same version: an %s',
    async (kind) => {
      const { world, other } = twoProcesses()
      const [held, gate] = [deferred<void>(), deferred<void>()]
      let late = { intent: 0, result: 1, refusal: 0 }[kind]
      const old = world.process({
        minRefreshInterval: 0,
        store: {
          ...world.store,
          async swap(...write) {
            if (write[0] === account && late-- === 0) {
              held.resolve()
              await gate.promise
            }
            return world.store.swap(...write)
          },
        },
      })
      // As many versions before the loss as the other process writes after it.
      const writes = { intent: 1, result: 2, refusal: 3 }[kind]
      await other.save(account, world.tokens())
      for (let version = 2; version < writes; version += 1) await other.refresh(account)
      if (kind === 'refusal') await old.getAccessToken(account)
      await world.pass(kind === 'refusal' ? 1000 : hours(8))
      const given = (await world.store.read(account))?.record
      const call =
        kind === 'refusal' && given?.state === 'signed-in'
          ? old.invalidate(account, given.tokens.access_token)
          : old.getAccessToken(account)
      await held.promise
      world.store.clear()
      for (let version = 0; version < writes; version += 1) {
        await other.save(account, world.tokens({ access_token: `newer ${version}`, refresh_token: `newer ${version}` }))
      }
      const stands = await world.store.read(account)
      const sent = [...world.sent]
      gate.resolve()
      await call
      expect(await world.store.read(account)).toEqual(stands)
      expect(world.sent).toEqual(sent)
      expect(await world.process().getAccessToken(account)).toBe(`newer ${writes - 1}`)
    },
  )
})

describe('an account that the store has lost', () => {
  it('is put back by a process that holds it, and everybody gets it again', async () => {
    const { world, old } = twoProcesses()
    const heard = heardBy(old, 'restored')
    await old.save(account, world.tokens())
    await world.rollCall()
    world.store.clear()
    await world.rollCall()
    expect(await world.process().getAccessToken(account)).toBe('a0')
    expect(heard).toEqual([{ account }])
    expect(world.sent).toEqual([])
  })

  it.each(['is damaged', 'can’t be opened'])('is put back where the roll call %s', async (how) => {
    const { world, old } = twoProcesses()
    await old.save(account, world.tokens())
    await world.rollCall()
    const read = world.store.read.bind(world.store)
    world.store.clear()
    world.store.put(rollCallName, { version: 7, record: { schema: 1, state: 'roll-call', call: '' } })
    if (how !== 'is damaged') {
      world.store.read = async (name) => {
        if (name === rollCallName) throw new StoreError('corrupt', 'The record is damaged.')
        return read(name)
      }
    }
    await world.rollCall()
    expect((await read(account))?.record).toMatchObject({ tokens: { access_token: 'a0' } })
    // Nor is it looked at without end: once more by the call that its loss was.
    await world.rollCall()
    const reads: string[] = []
    const looked = world.store.read.bind(world.store)
    world.store.read = async (name) => {
      reads.push(name)
      return looked(name)
    }
    for (let calls = 0; calls < 4; calls += 1) await world.rollCall()
    expect(reads.filter((name) => name === account)).toEqual([])
    if (how !== 'is damaged') return
    world.store.clear()
    await world.rollCall()
    expect(await read(account)).toMatchObject({ record: { tokens: { access_token: 'a0' } } })
  })

  it('is put back once: the next roll call finds nothing to do', async () => {
    const { world, old, other } = twoProcesses()
    for (const name of [account, 'second', 'third']) await old.save(name, world.tokens({ refresh_token: name }))
    for (const name of [account, 'second', 'third']) await other.status(name)
    await world.rollCall()
    world.store.clear()
    for (let calls = 0; calls < 4; calls += 1) await world.rollCall()
    const versions = async (): Promise<unknown[]> =>
      Promise.all([account, 'second', 'third'].map(async (name) => (await world.store.read(name))?.version))
    expect(await versions()).toEqual([1, 1, 1])
    await world.pass(60_000)
    const reads: string[] = []
    const read = world.store.read.bind(world.store)
    world.store.read = async (name) => {
      reads.push(name)
      return read(name)
    }
    for (let calls = 0; calls < 4; calls += 1) await world.rollCall()
    expect(reads).toHaveLength(8)
    expect(await versions()).toEqual([1, 1, 1])
  })

  it('is in doubt: refreshed shortly before its access token ends, not before', async () => {
    const { world, old } = twoProcesses()
    await old.save(account, world.tokens())
    world.store.clear()
    await world.pass(hours(7))
    expect(await old.getAccessToken(account)).toBe('a0')
    await world.pass(200_000)
    expect(await old.status(account)).toMatchObject({ state: 'in-doubt' })
    expect(world.sent).toEqual([])
    await world.pass(hours(1) - 300_000)
    expect(await old.getAccessToken(account)).toBe('a0')
    await world.pass(1000)
    expect(await old.getAccessToken(account)).toBe('a1')
    expect(world.sent).toEqual(['r0'])
  })

  it('comes back in its newest form: who holds an older one waits for whoever holds a newer', async () => {
    const { world, old, other } = twoProcesses()
    await old.save(account, world.tokens())
    await other.status(account)
    await world.pass(hours(8))
    expect(await old.getAccessToken(account)).toBe('a1')
    world.store.clear()
    const call = other.getAccessToken(account)
    await world.pass(60_000)
    expect(world.sent).toEqual(['r0'])
    await world.rollCall()
    await world.pass(1000)
    expect(await call).toBe('a1')
    expect(world.sent).toEqual(['r0'])
  })

  it('is given up by its refusal where nobody has a newer one any more', async () => {
    const { world, old, other } = twoProcesses()
    await old.save(account, world.tokens())
    await other.status(account)
    await world.pass(hours(8))
    await old.getAccessToken(account)
    world.store.clear()
    world.answer = () => Promise.reject(new ReauthenticationRequiredError('refresh_token_rejected'))
    const call = other.getAccessToken(account).catch((error: unknown) => error)
    await world.pass(119_000)
    expect(world.sent).toEqual(['r0'])
    await world.pass(2000)
    expect(await call).toMatchObject({ reason: 'rotated_token_lost' })
    // The process that was away all the time still knows better.
    await world.rollCall()
    expect(await world.process().getAccessToken(account)).toBe('a1')
  })

  it('stays signed out where a process knows of the sign-out, also over what another put back', async () => {
    const { world, old, other } = twoProcesses()
    await old.save(account, world.tokens())
    await other.status(account)
    await old.forget(account)
    world.store.clear()
    expect(await other.getAccessToken(account)).toBe('a0')
    await other.refresh(account, { signal: AbortSignal.abort() }).catch(() => undefined)
    await idle()
    expect(await storedIn(world)).toMatchObject({ state: 'signed-in', intent: { restored: true } })
    await world.rollCall()
    await world.rollCall()
    expect(await storedIn(world)).toMatchObject({ state: 'signed-out' })
    expect(await other.status(account)).toEqual({ state: 'signed-out' })
    world.store.clear()
    await world.rollCall()
    expect(await storedIn(world)).toMatchObject({ state: 'signed-out' })
  })

  it('still has to sign in again where it had to, also over what another put back', async () => {
    const { world, old, other } = twoProcesses()
    await old.save(account, world.tokens())
    await other.status(account)
    await world.pass(hours(8))
    world.answer = () => Promise.reject(new ReauthenticationRequiredError('refresh_token_rejected'))
    await expect(old.getAccessToken(account)).rejects.toMatchObject({ reason: 'refresh_token_rejected' })
    world.store.clear()
    const call = other.getAccessToken(account).catch((error: unknown) => error)
    await world.pass(1000)
    await world.rollCall()
    await world.pass(1000)
    expect(await call).toMatchObject({ code: 'ERR_SSO_REAUTHENTICATION_REQUIRED' })
    expect(world.sent).toEqual(['r0'])
  })

  it('is replaced by a sign-in whatever was put back, and whoever comes back later', async () => {
    const { world, old, other } = twoProcesses(600_000)
    await old.save(account, world.tokens())
    await world.pass(61_000)
    await old.refresh(account)
    world.store.clear()
    await old.status(account)
    expect(await storedIn(world)).toMatchObject({ tokens: { access_token: 'a1' }, intent: { restored: true } })
    await other.save(account, world.tokens({ access_token: 'person', refresh_token: 'person' }))
    await world.rollCall()
    expect(await old.status(account)).toMatchObject({ state: 'valid' })
    expect(await storedIn(world)).toMatchObject({ tokens: { access_token: 'person' } })
  })

  it('takes the result of a refresh that was under way, which nobody can have spent', async () => {
    const { world, old, other } = twoProcesses()
    await old.save(account, world.tokens())
    await other.status(account)
    await world.pass(hours(8))
    const received = deferred<ReturnType<typeof world.tokens>>()
    world.answer = () => received.promise
    const call = old.getAccessToken(account)
    await world.pass(1)
    world.store.clear()
    const waiting = other.getAccessToken(account)
    await world.pass(1000)
    received.resolve(world.tokens({ access_token: 'new', refresh_token: 'new' }))
    await world.pass(1000)
    expect([await call, await waiting]).toEqual(['new', 'new'])
    const { intent } = (await storedIn(world)) as { intent?: unknown }
    expect({ intent, sent: world.sent }).toEqual({ intent: undefined, sent: ['r0'] })
  })

  it('that was lost twice, with a sign-in between, comes back as the later one', async () => {
    const { world, old, other } = twoProcesses()
    await world.process({}, year).save(account, world.tokens())
    await old.status(account)
    world.store.clear()
    await world.pass(1000)
    await other.save(account, world.tokens({ access_token: 'later', refresh_token: 'later' }))
    world.store.clear()
    await old.status(account)
    expect(await storedIn(world)).toMatchObject({ tokens: { access_token: 'a0' } })
    await world.rollCall()
    await old.status(account)
    expect(await storedIn(world)).toMatchObject({ tokens: { access_token: 'later' } })
    expect(await world.process().getAccessToken(account)).toBe('later')
  })
})

describe('a store that was set back by more than one refresh', () => {
  it('is not believed, nor is a process that remembers one of them: the newest is sent', async () => {
    const { world, old, other } = twoProcesses()
    await old.save(account, world.tokens())
    const before = await world.store.read(account)
    await world.pass(hours(8))
    await old.getAccessToken(account)
    await other.status(account)
    await world.pass(hours(8))
    expect(await old.getAccessToken(account)).toBe('a2')
    if (before !== undefined) world.store.put(account, before)
    const call = other.getAccessToken(account)
    await world.pass(30_000)
    expect(world.sent).toEqual(['r0', 'r1'])
    await world.rollCall()
    await world.pass(1000)
    expect(await call).toBe('a2')
    expect(world.sent).toEqual(['r0', 'r1'])
  })
})

describe('a store that was set back', () => {
  it('gets all accounts back once one was found: whoever holds another one looks, though nobody asks it', async () => {
    const { world, old, other } = twoProcesses()
    await old.save(account, world.tokens())
    await other.save('second', world.tokens({ refresh_token: 'second' }))
    const before = [await world.store.read(account), await world.store.read('second')]
    await world.pass(hours(8))
    await old.getAccessToken(account)
    const newest = await other.getAccessToken('second')
    for (let calls = 0; calls < 3; calls += 1) await world.rollCall()
    await world.pass(60_000)
    for (const [index, name] of [account, 'second'].entries()) {
      const stored = before[index]
      if (stored !== undefined) world.store.put(name, stored)
    }
    await world.rollCall()
    expect((await world.store.read('second'))?.version).toBe(1)
    await old.status(account)
    await world.rollCall()
    expect((await world.store.read('second'))?.record).toMatchObject({ tokens: { access_token: newest } })
  })

  it('is looked at once, however many calls come while it is slow to answer', async () => {
    const { world, old } = twoProcesses()
    for (let index = 0; index < 20; index += 1) {
      await old.save(`owner-${index}@example.com`, world.tokens({ refresh_token: `r-${index}` }))
    }
    const read = world.store.read.bind(world.store)
    const slow = deferred<void>()
    let reads = 0
    world.store.read = async (name) => {
      if (name.endsWith('@example.com')) {
        reads += 1
        await slow.promise
      }
      return read(name)
    }
    world.store.clear()
    for (let calls = 0; calls < 4; calls += 1) await world.rollCall()
    expect(reads).toBe(16)
    slow.resolve()
    await world.pass(1000)
    expect(reads).toBe(20)
  })

  it('gets all accounts back that a process holds, though one record can’t be read', async () => {
    const { world, old } = twoProcesses()
    const names = Array.from({ length: 20 }, (_, index) => `owner-${index}@example.com`)
    for (const name of names) await old.save(name, world.tokens({ refresh_token: name }))
    await world.rollCall()
    world.store.clear()
    const read = world.store.read.bind(world.store)
    world.store.read = (name) =>
      name === names[0] ? Promise.reject(new StoreError('read-failed', 'Not allowed.')) : read(name)
    for (let calls = 0; calls < 3; calls += 1) await world.rollCall()
    await world.pass(1000)
    for (const name of names.slice(1)) {
      expect(await world.store.read(name)).toMatchObject({ record: { tokens: { refresh_token: name } } })
    }
  })

  it('gets all accounts back that it takes, and where it takes none it is asked for a few of them', async () => {
    const { world, old } = twoProcesses()
    const names = Array.from({ length: 40 }, (_, index) => `owner-${index}@example.com`)
    for (const name of names) await old.save(name, world.tokens({ refresh_token: name }))
    await world.rollCall()
    world.store.clear()
    let isFull = true
    const refused = new Set<string>()
    const swap = world.store.swap.bind(world.store)
    world.store.swap = async (name, ...rest) => {
      if (!names.includes(name) || (!isFull && name !== names[0])) return swap(name, ...rest)
      refused.add(name)
      throw new StoreError('write-failed', 'Not this one.')
    }
    await world.rollCall()
    expect(refused.size).toBeLessThanOrEqual(16)
    isFull = false
    await world.rollCall()
    for (const name of names.slice(1)) {
      expect(await world.store.read(name)).toMatchObject({ record: { tokens: { refresh_token: name } } })
    }
  })
})

describe('callers without a working token, after the store went back in time', () => {
  /** Tokens that have ended stand in doubt: the store lost the newest, and one process put back what it knew. */
  async function putBack() {
    const { world, old, other } = twoProcesses()
    await old.save(account, world.tokens())
    await world.pass(hours(9))
    world.store.clear()
    await old.status(account)
    const inSeconds = (seconds: number): number => world.now() / 1000 + seconds
    return { world, old, other, inSeconds }
  }

  it('are announced at once, in each process, with the time at which it goes on; it goes on then (E17)', async () => {
    const { world, old, other, inSeconds } = await putBack()
    const heard: unknown[] = []
    for (const tokens of [old, other]) tokens.on('in-doubt', (event) => heard.push(event))
    const calls = [old.getAccessToken(account), other.getAccessToken(account)]
    const nextAttemptAt = inSeconds(120)
    await world.pass(1000)
    expect(heard).toEqual([
      { account, nextAttemptAt },
      { account, nextAttemptAt },
    ])
    expect(await other.status(account)).toMatchObject({ state: 'in-doubt', next_attempt_at: nextAttemptAt })
    await world.pass(120_000)
    expect(await Promise.all(calls)).toEqual(['a1', 'a1'])
    expect([heard.length, world.sent]).toEqual([2, ['r0']])
  })

  it.each([
    ['getAccessToken', (tokens: TokenManager, signal: AbortSignal) => tokens.getAccessToken(account, { signal })],
    ['refresh', (tokens: TokenManager, signal: AbortSignal) => tokens.refresh(account, { signal })],
    [
      'refresh in the background',
      (tokens: TokenManager, signal: AbortSignal) => tokens.refresh(account, { signal, priority: 'background' }),
    ],
  ])('hear of %s when their signal ends the wait: in doubt, and until when', async (_, call) => {
    const { world, other, inSeconds } = await putBack()
    const limit = new AbortController()
    const waiting = call(other, limit.signal)
    const nextAttemptAt = inSeconds(120)
    await world.pass(20_000)
    limit.abort()
    await expect(waiting).rejects.toMatchObject({ code: 'ERR_SSO_REFRESH_IN_DOUBT', nextAttemptAt })
    await world.pass(hours(1))
  })
})

describe('a record of a release that kept no ancestry', () => {
  it('is read, refreshed and replaced, and a process that remembers it does not bring it back', async () => {
    const { world, old, other } = twoProcesses()
    const tokens = world.tokens()
    const times = { obtained_at: world.now() / 1000, lifetime: 28_800 }
    const lineage = createHmac('sha256', account).update(tokens.refresh_token).digest('base64url')
    const record = {
      schema: 1,
      state: 'signed-in',
      generation: 1_760_000_000_000,
      refreshes: 4,
      lineage,
      tokens,
      ...times,
    }
    world.store.put(account, { version: 7, record: anyRecord(record) })
    expect(await old.getAccessToken(account)).toBe('a0')
    await other.save(account, world.tokens({ access_token: 'newer', refresh_token: 'newer' }))
    world.store.put(account, { version: 7, record: anyRecord(record) })
    await other.status(account)
    expect(await storedIn(world)).toMatchObject({ tokens: { access_token: 'newer' } })
    await old.status(account)
    expect(await old.getAccessToken(account)).toBe('newer')
  })
})
