/** Each rule of what a record says and what is known of it, row by row. */
import { describe, expect, it } from '@jest/globals'
import { StoreError } from '../../src/index.ts'
import { agesOf } from '../../src/refresh-protocol/freshness.ts'
import { holdsResult, isBehind, isSameWrite, mayReplace, successorOf } from '../../src/refresh-protocol/lineage.ts'
import { guardStore } from '../../src/refresh-protocol/guarded-store.ts'
import {
  acceptRecord,
  accessTokenOf,
  ageOf,
  closeWindow,
  createAccountMemory,
  freshnessOf,
  isAsked,
  isUsable,
  openWindow,
  writeOf,
} from '../../src/refresh-protocol/account-memory.ts'
import { statusOf } from '../../src/refresh-protocol/status.ts'
import { type Decision, rules, type Situation } from '../../src/refresh-protocol/rules.ts'
import { elapsed } from '../../src/refresh-protocol/runtime.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'
import { authUrl, slowClock, start, known, signedIn } from './by-hand.ts'

it('what has passed is the most that either clock says, and nothing where both went back', () => {
  const since = { wall: 100, monotonic: 100 }
  expect(
    [
      { wall: 110, monotonic: 105 },
      { wall: 90, monotonic: 105 },
      { wall: 101, monotonic: 120 },
      { wall: 99, monotonic: 99 },
    ].map((now) => elapsed(since, now)),
  ).toEqual([10, 5, 20, 0])
})

describe('what may take a record’s place', () => {
  const tokens = (access_token: string) => ({ access_token, refresh_token: 'r' })
  const held = (more: object = {}): never =>
    ({
      schema: 1,
      state: 'signed-in',
      generation: 1,
      session: 's',
      lineage: 'l1',
      refreshes: 3,
      tokens: tokens('a1'),
      ...more,
    }) as never
  const result = (next: object) => ({ derivedFrom: held(), next: held(next) })
  const out: never = { schema: 1, state: 'signed-out', generation: 2, session: 'o' } as never

  it('is the result that was derived from its refresh token', () => {
    const rotated = result({ lineage: 'l2', refreshes: 4 })
    expect([mayReplace(held(), rotated), mayReplace(held({ refreshes: 9 }), rotated)]).toEqual([true, true])
    expect([mayReplace(held({ lineage: 'l0' }), rotated), mayReplace(out, rotated)]).toEqual([false, false])
    const kept = result({ refreshes: 4 })
    expect([2, 3, 4].map((refreshes) => mayReplace(held({ refreshes }), kept))).toEqual([true, true, false])
    expect(mayReplace(held({ refreshes: 4, session: 'other' }), kept)).toBe(true)
  })

  it('is nothing where the record has it already', () => {
    const next = result({ lineage: 'l2', tokens: tokens('a2') })
    expect(holdsResult(held({ lineage: 'l2', tokens: tokens('a2') }), next)).toBe(true)
    for (const other of [
      held({ lineage: 'l2' }),
      held({ tokens: tokens('a2') }),
      held({ lineage: 'l2', tokens: tokens('a2'), state: 'reauthentication-required' }),
      out,
    ])
      expect(holdsResult(other, next)).toBe(false)
  })

  it('counts one refresh more, unless it is the end', () => {
    const over = (refreshes: number, next: object): unknown => successorOf(held({ refreshes }), result(next))
    expect(over(3, { refreshes: 4 })).toMatchObject({ refreshes: 4 })
    expect(over(7, { refreshes: 4, session: 'x', generation: 9 })).toMatchObject({
      refreshes: 8,
      session: 's',
      generation: 1,
    })
    expect(over(2, { refreshes: 9 })).toMatchObject({ refreshes: 9 })
    expect(over(7, { refreshes: 4, state: 'reauthentication-required' })).toMatchObject({ refreshes: 7 })
  })

  it('is what stands behind it, where the store went back', () => {
    const at = (version: number, record: never, writeId?: string) => ({ version, writeId, record })
    const intent = { intent: { id: 'i' } }
    const ended = held({ state: 'reauthentication-required' })
    const rows: [ReturnType<typeof at>, ReturnType<typeof at>, boolean][] = [
      [at(1, held({ refreshes: 2 })), at(2, held()), true],
      [at(3, held({ refreshes: 4 })), at(2, held()), false],
      [at(9, held()), at(2, ended), true],
      [at(1, ended), at(2, held()), false],
      [at(1, held()), at(2, held(intent)), true],
      [at(2, held(), 'a'), at(2, held(intent), 'b'), true],
      [at(2, held(), 'a'), at(2, held(intent), 'a'), false],
      [at(3, held()), at(2, held(intent)), false],
      [at(1, held(intent)), at(2, held(intent)), false],
      [at(1, held()), at(2, held()), false],
      [at(9, held({ session: 'old' })), at(2, held({ replaces: ['old'] })), true],
      [at(1, held({ session: 'other' })), at(2, held()), false],
      [at(1, out), at(2, held({ replaces: ['o'] })), true],
    ]
    expect(rows.map(([stored, seen]) => isBehind(stored, seen))).toEqual(rows.map(([, , isIt]) => isIt))
    expect([
      isSameWrite({ version: 1 }, { version: 1 }),
      isSameWrite({ version: 1 }, { version: 2 }),
      isSameWrite({ version: 1, writeId: 'a' }, { version: 1 }),
    ]).toEqual([true, false, false])
  })
})

describe('a store in the protocol’s hands', () => {
  const record: never = { schema: 1, state: 'roll-call', call: 'c' } as never

  it('is given up after ten seconds, and no timer stays of a call that it answered', async () => {
    const limits: [number, () => void][] = []
    const ended: number[] = []
    const limit = (milliseconds: number, onOver: () => void): (() => void) => {
      limits.push([milliseconds, onOver])
      return () => void ended.push(milliseconds)
    }
    const never = new Promise<never>(() => undefined)
    let returned = 0
    const silent = guardStore(
      {
        read: () => never,
        swap: () => never,
        accounts: () => ({
          [Symbol.asyncIterator]: () => ({ next: () => never, return: async () => ((returned += 1), never) }),
        }),
      },
      limit,
    )
    const outcomes = [
      silent.read('a'),
      silent.swap('a', undefined, record, 'w'),
      (async () => {
        for await (const name of silent.accounts?.() ?? []) throw new Error(name)
      })(),
    ].map((call) => call.then(undefined, (error: unknown) => error))
    await new Promise((resolve) => setImmediate(resolve))
    // The list began within its limit, and its first step has one of its own.
    expect([limits.map(([milliseconds]) => milliseconds), ended]).toEqual([[10_000, 10_000, 10_000, 10_000], [10_000]])
    for (const [, onOver] of limits) onOver()
    const late = { code: 'ERR_SSO_STORE', message: expect.stringContaining('ten seconds') }
    expect(await Promise.all(outcomes)).toMatchObject([
      { ...late, reason: 'unavailable' },
      { ...late, reason: 'write-failed' },
      { ...late, reason: 'unavailable' },
    ])
    expect([ended.length, returned]).toEqual([4, 1])
  })

  it('is told what is written over, and has its own errors passed on, others wrapped', async () => {
    const swaps: unknown[] = []
    const failing = { error: new Error('secret') as Error | undefined }
    const base = {
      read: async () => {
        if (failing.error) throw failing.error
        return undefined
      },
      swap: async (...call: unknown[]) => {
        swaps.push(call.slice(1))
        return { conflict: true as const }
      },
    }
    const store = guardStore(base, undefined)
    expect(await store.read('a').catch((error: unknown) => error)).toMatchObject({
      reason: 'unavailable',
      message: expect.not.stringContaining('secret'),
    })
    failing.error = new StoreError('busy', 'x')
    expect(await store.read('a').catch((error: unknown) => error)).toBe(failing.error)
    failing.error = undefined
    expect(await store.read('a')).toBeUndefined()
    await store.swap('a', undefined, record, 'w1')
    await store.swap('a', { version: 3 }, record, 'w2', { forgetOlder: true })
    await store.swap('a', { version: 3, writeId: 'o' }, record, 'w3')
    await store.swap('a', { version: 3, writeId: 'o' }, record, 'w4', { forgetOlder: true })
    expect(swaps).toEqual([
      [0, record, 'w1', undefined],
      [3, record, 'w2', { forgetOlder: true }],
      [3, record, 'w3', { expectedWriteId: 'o' }],
      [3, record, 'w4', { forgetOlder: true, expectedWriteId: 'o' }],
    ])
    // All of a record's fields can be enumerated: not every store writes JSON.
    await store.swap('a', undefined, signedIn(), 'w5')
    const written: unknown = (swaps.at(-1) as unknown[])[1]
    expect(Object.keys(Object(Reflect.get(Object(written), 'tokens')))).toContain('refresh_token')
    const hinted = { ...base, hints: 0, watch: watchOnce }
    function watchOnce(this: typeof hinted): () => void {
      this.hints += 1
      return () => undefined
    }
    guardStore(hinted, undefined).watch?.('a', () => undefined)
    expect(hinted.hints).toBe(1)
    expect([store.accounts, store.watch]).toEqual([undefined, undefined])
    expect(['accounts' in store, 'watch' in store]).toEqual([false, false])
  })

  it('is asked to end a list that is left early, and no other', async () => {
    let returned = 0
    const accounts = async function* (): AsyncGenerator<string> {
      try {
        yield 'a'
        yield 'b'
      } finally {
        returned += 1
      }
    }
    const store = guardStore({ ...mapStore(), accounts }, undefined)
    const names: string[] = []
    for await (const name of store.accounts?.() ?? []) names.push(name)
    expect([names, returned]).toEqual([['a', 'b'], 1])
    for await (const name of store.accounts?.() ?? []) if (name === 'a') break
    await new Promise((resolve) => setImmediate(resolve))
    expect(returned).toBe(2)
  })
})

describe('what is known of an account', () => {
  it('is the newest record; tokens that were known keep their first sight, an intent its own', () => {
    const clock = slowClock()
    const { cache } = known(clock)
    const firstSeen = { wall: start * 1000, monotonic: 0 }
    expect(cache).toMatchObject({
      version: 3,
      writeId: 'w3',
      seen: firstSeen,
      sawReplaced: false,
      intentSeen: undefined,
    })
    expect(writeOf(cache)).toEqual({ version: 3, writeId: 'w3' })
    cache.backgroundBackOff = { since: firstSeen, wait: 1 }
    cache.turns = { refused: true, missed: true }
    clock.now = 5000
    const accept = (version: number, record: object): void =>
      acceptRecord(cache, { version, writeId: undefined, record: signedIn(record) }, clock.runtime, 0.5)
    accept(4, { intent: { id: 'i' } })
    const seenAt = { wall: start * 1000 + 5000, monotonic: 5000 }
    expect(cache).toMatchObject({
      version: 4,
      writeId: undefined,
      seen: firstSeen,
      sawReplaced: false,
      intentSeen: { id: 'i', at: seenAt, knewBefore: true },
      turns: { refused: true, missed: true },
      backgroundBackOff: { wait: 1 },
    })
    clock.now = 6000
    accept(5, { intent: { id: 'i' } })
    expect(cache.intentSeen).toMatchObject({ at: seenAt })
    accept(6, { intent: { id: 'j' } })
    expect(cache.intentSeen).toMatchObject({ id: 'j', at: { monotonic: 6000 } })
    accept(7, { tokens: { access_token: 'a2' } })
    expect(cache).toMatchObject({
      intentSeen: undefined,
      seen: { monotonic: 6000 },
      sawReplaced: true,
      turns: { refused: false, missed: false },
      backgroundBackOff: undefined,
      ages: agesOf(signedIn(), 0.5),
    })
    clock.now = 7000
    accept(8, { tokens: { access_token: '' } })
    expect([cache.seen.monotonic, accessTokenOf(cache.record)]).toEqual([7000, undefined])
    clock.now = 8000
    accept(9, { tokens: { access_token: '' } })
    expect(cache).toMatchObject({ seen: { monotonic: 8000 }, sawReplaced: false })
    const other = createAccountMemory(1).of('bob')
    acceptRecord(other, { version: 1, record: signedIn({ intent: { id: 'i' } }) }, clock.runtime, 0.5)
    expect(other.intentSeen).toMatchObject({ knewBefore: false })
  })

  it('has an age: by the writer’s clock at first sight, then by the faster of ours; none once signed out', () => {
    const clock = slowClock()
    const { cache, context } = known(clock, { obtained_at: start - 10 })
    const age = (): number => ageOf(cache, { wall: clock.runtime.wallClock(), monotonic: clock.now })
    expect(age()).toBe(10_000)
    clock.now = 500
    clock.wallOnly = 700
    expect(age()).toBe(11_200)
    clock.wallOnly = -90_000
    expect(age()).toBe(10_500)
    expect(
      ageOf(known(slowClock(), { obtained_at: start + 100 }).cache, { wall: start * 1000 + 5, monotonic: 0 }),
    ).toBe(5)
    cache.record = { schema: 1, state: 'signed-out', generation: 1 } as never
    expect([age(), accessTokenOf(cache.record)]).toEqual([Infinity, undefined])
    expect([ageOf(context.memory.of('new'), { wall: 0, monotonic: 0 }), accessTokenOf(undefined)]).toEqual([
      Infinity,
      undefined,
    ])
  })

  it('is usable until it has expired, unless the owner API refused it', () => {
    const at = (milliseconds: number) => ({ wall: start * 1000 + milliseconds, monotonic: milliseconds })
    const { cache } = known(slowClock())
    expect([isUsable(cache, at(28_789_999)), isUsable(cache, at(28_790_000))]).toEqual([true, false])
    expect([freshnessOf(cache, at(0)), freshnessOf(cache, at(28_680_000))]).toEqual(['fresh', 'expiring'])
    cache.rejected = { accessToken: 'a0', unused: false }
    expect(isUsable(cache, at(0))).toBe(true)
    cache.rejected = { accessToken: 'a1', unused: false }
    expect(isUsable(cache, at(0))).toBe(false)
    expect(isUsable(known(slowClock(), { tokens: { access_token: '' } }).cache, at(0))).toBe(false)
    expect([undefined, 'a1', 'a0', ''].map((unwanted) => isAsked({ ...cache, unwanted }))).toEqual([
      false,
      true,
      false,
      false,
    ])
    expect(isAsked({ ...cache, record: undefined, unwanted: '' })).toBe(true)
  })

  it('is served in windows of whole seconds, a minute at the most, until the account signs out', () => {
    const { cache, context } = known(slowClock())
    const now = { wall: start * 1000 + 900, monotonic: 0 }
    expect(context.memory.served('ann')).toBeUndefined()
    closeWindow(cache)
    for (const [milliseconds, seconds] of [
      [60_099, 60],
      [60_100, 60],
      [59_100, 60],
      [59_099, 59],
      [99, 0],
    ] as const) {
      openWindow(cache, now, milliseconds, context.memory)
      expect(context.memory.served('ann')).toEqual({ accessToken: 'a1', from: start, until: start + seconds })
    }
    expect(context.memory.served('ann')).toBe(cache.served)
    closeWindow(cache)
    expect(context.memory.served('ann')).toEqual({ accessToken: '', from: start, until: 0 })
  })

  it('is forgotten where others take its place, once nothing of it is under way', () => {
    const memory = createAccountMemory(2)
    const [ann, bob] = [memory.of('ann'), memory.of('bob')]
    memory.serve(ann, { accessToken: 'a', from: 0, until: 1 })
    expect([memory.of('ann') === ann, [...memory.all()]]).toEqual([true, [ann, bob]])
    memory.of('cid')
    expect([...memory.all()].map(({ account }) => account)).toEqual(['ann', 'cid'])
    ann.inFlight = { synced: Promise.resolve(), done: Promise.resolve() }
    memory.of('dan')
    memory.of('eve')
    expect([...memory.all()].map(({ account }) => account)).toEqual(['ann', 'dan', 'eve'])
    expect(memory.served('ann')).toBe(ann.served)
    memory.release(ann)
    expect(memory.served('ann')).toBe(ann.served)
    ann.inFlight = undefined
    memory.release({ ...ann })
    expect(memory.served('ann')).toBe(ann.served)
    memory.release(ann)
    expect([memory.served('ann'), [...memory.all()].map(({ account }) => account)]).toEqual([undefined, ['dan', 'eve']])
    const dan = memory.of('dan')
    memory.release(dan)
    expect(memory.of('dan')).toBe(dan)
    dan.unsaved = { result: {} as never, error: undefined, safe: undefined }
    memory.of('fay')
    memory.of('gus')
    expect([...memory.all()].map(({ account }) => account)).toEqual(['dan', 'fay', 'gus'])
  })
})

it('the status of an account without an access token names no time for one', async () => {
  const { context } = known(slowClock(), { tokens: { access_token: '', refresh_token: 'r1', auth_url: authUrl } })
  expect(await statusOf('ann', context)).toEqual({ state: 'expired', auth_url: authUrl, obtained_at: start })
})

describe('what one look leads to', () => {
  const intent = { id: 'i', holder: { pid: 1 }, replay: 0, at: 0 }
  const base: Situation = {
    record: signedIn(),
    freshness: 'ageing',
    unwanted: false,
    justRefreshed: false,
    intent: undefined,
    intentAlive: false,
    inGrace: false,
    replayBackedOff: true,
  }
  const doubt = { intent, freshness: 'expiring' } as const
  const ended = signedIn({ state: 'reauthentication-required', reason: 'refresh_token_rejected' })

  it.each<[Decision, Partial<Situation>]>([
    ['not-signed-in', { record: undefined }],
    ['not-signed-in', { record: { schema: 1, state: 'signed-out', generation: 1 } as never, freshness: 'fresh' }],
    ['reauthenticate', { record: ended, freshness: 'fresh' }],
    ['serve', { freshness: 'fresh' }],
    ['serve', { freshness: 'fresh', intent }],
    ['send', { freshness: 'fresh', unwanted: true }],
    ['serve', { freshness: 'fresh', unwanted: true, justRefreshed: true }],
    ['serve', { justRefreshed: true, intent }],
    ['send', {}],
    ['send', { freshness: 'expired' }],
    ['wait', { intent, intentAlive: true }],
    ['wait', { ...doubt, intentAlive: true }],
    ['defer', { intent }],
    ['replay', doubt],
    ['replay', { intent, freshness: 'expired' }],
    ['replay', { intent, unwanted: true }],
    ['replay', { intent, freshness: 'fresh', unwanted: true }],
    ['replay', { intent, inGrace: true }],
    ['defer', { ...doubt, replayBackedOff: false }],
    ['defer', { intent, inGrace: true, replayBackedOff: false }],
  ])('%s: %j', (decision, situation) => {
    expect(rules.decide({ ...base, ...situation })).toBe(decision)
  })

  it('an intent lives 45 seconds, two minutes where its holder runs or it was put back, and not once it is given up', () => {
    const lives = (more: object, observed: number, liveness: 'dead' | 'running' | 'unknown' = 'unknown'): boolean =>
      rules.isAlive({ ...intent, ...more }, observed, liveness)
    expect([lives({}, 44_999), lives({}, 45_000)]).toEqual([true, false])
    expect([lives({}, 119_999, 'running'), lives({}, 120_000, 'running')]).toEqual([true, false])
    expect(lives({}, 0, 'dead')).toBe(false)
    const restored = { restored: true }
    expect([lives(restored, 119_999, 'dead'), lives(restored, 120_000, 'running')]).toEqual([true, false])
    expect([lives({ answerLost: true }, 0, 'running'), lives({ ...restored, answerLost: true }, 0)]).toEqual([
      false,
      false,
    ])
  })

  it('a request goes out within ten seconds of its swap, and nobody waits for another’s longer than two and a half minutes', () => {
    expect([rules.maySend(10_000), rules.maySend(10_001)]).toEqual([true, false])
    expect([rules.afterWaiting(149_999), rules.afterWaiting(150_000)]).toEqual(['wait', 'defer'])
    expect(rules.withIntent(signedIn() as never, intent)).toEqual({ ...signedIn(), intent })
  })
})
