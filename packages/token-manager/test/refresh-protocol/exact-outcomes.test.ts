/** Each rule of what a request and a failure come to, row by row. */
import { describe, expect, it } from '@jest/globals'
import {
  FirewallChallengeError,
  ReauthenticationRequiredError,
  type SsoError,
  StoreError,
  TokenRejectedError,
  UnreachableError,
} from '../../src/index.ts'
import { createRollCall } from '../../src/refresh-protocol/roll-call.ts'
import { lineageOf } from '../../src/refresh-protocol/lineage.ts'
import { guardStore } from '../../src/refresh-protocol/guarded-store.ts'
import { acceptRecord, type AccountCache } from '../../src/refresh-protocol/account-memory.ts'
import { backOff, isGivenUp, rejectionsAfter, throwIfBackingOff } from '../../src/refresh-protocol/back-off.ts'
import {
  bareTokenSet,
  isBare,
  isOfAnotherOwner,
  mayTakeThePlaceOf,
} from '../../src/refresh-protocol/bare-refresh-token.ts'
import { inDoubt, isInGrace, isIntentAlive, openIntent, replayBackOffLeft } from '../../src/refresh-protocol/doubt.ts'
import { outcomeOf } from '../../src/refresh-protocol/outcome.ts'
import { withOwnIntent } from '../../src/refresh-protocol/own-intents.ts'
import { isUnused, noteRefusal, refusalsBefore } from '../../src/refresh-protocol/refusal.ts'
import { syncFromStore } from '../../src/refresh-protocol/read-record.ts'
import { inDoubtAgain, restorationOf } from '../../src/refresh-protocol/restoration.ts'
import type { Context } from '../../src/refresh-protocol/context.ts'
import type { AccountRecord } from '../../src/tokens/token-record.ts'
import { authUrl, slowClock, start, slowly, known, signedIn, thrown } from './by-hand.ts'

describe('after a refresh that failed', () => {
  const failure = new UnreachableError('x', { requestSent: false })
  const invalidRequest = (description?: string) => new TokenRejectedError('invalid_request', {}, description)

  /** Milliseconds until the next request may be made. */
  function pause(cache: AccountCache, context: Context, clock: ReturnType<typeof slowClock>): number {
    const began = clock.now
    let [early, late] = [-1, 1_000_000]
    while (late - early > 1) {
      const middle = Math.floor((early + late) / 2)
      clock.now = began + middle
      if (thrown(() => throwIfBackingOff(cache, context)) === undefined) late = middle
      else early = middle
    }
    clock.now = began
    return late
  }

  it('the next one waits a minute, twice as long after each further failure, eight minutes at the most', () => {
    const clock = slowClock()
    const { cache, context } = known(clock)
    expect(pause(cache, context, clock)).toBe(0)
    const pauses = Array.from({ length: 5 }, () => {
      backOff(cache, failure, context)
      return pause(cache, context, clock)
    })
    expect(pauses).toEqual([60_000, 120_000, 240_000, 480_000, 480_000])
    expect(thrown(() => throwIfBackingOff(cache, context))).toBe(failure)
    cache.unwanted = 'a1'
    expect(pause(cache, context, clock)).toBe(60_000)
    expect(pause(cache, { ...context, minRefreshInterval: 900_000 }, clock)).toBe(480_000)
  })

  it('as a wrong request counts in the record, with what the service said', () => {
    const after = (rejections: object | undefined, error: SsoError): unknown =>
      rejectionsAfter(signedIn(rejections && { rejections }) as never, error, start * 1000 + 999)
    expect(after(undefined, invalidRequest())).toStrictEqual({ rejections: { inARow: 1, at: start } })
    expect(after({ inARow: 3, at: 1, description: 'old' }, invalidRequest('try again'))).toStrictEqual({
      rejections: { inARow: 4, at: start, description: 'try again' },
    })
    const before = { inARow: 3, at: 1 }
    expect(after(before, new TokenRejectedError('invalid_client'))).toStrictEqual({ rejections: before })
    expect(after(before, failure)).toStrictEqual({ rejections: before })
    expect(after(undefined, failure)).toStrictEqual({})
    expect([undefined, 4, 5].map((inARow) => isGivenUp(inARow ? { rejections: { inARow, at: 0 } } : {}))).toEqual([
      false,
      false,
      true,
    ])
  })

  it.each([
    [1, 60_000],
    [2, 120_000],
    [4, 480_000],
    [9, 480_000],
  ])('that was the rejection number %i, every process waits %i ms', (inARow, milliseconds) => {
    const clock = slowClock()
    const { cache, context } = known(clock, { rejections: { inARow, at: start, description: 'no' } })
    expect(pause(cache, context, clock)).toBe(milliseconds)
    expect(thrown(() => throwIfBackingOff(cache, context))).toMatchObject({
      error: 'invalid_request',
      step: 'refresh',
      requestSent: false,
      description: 'no',
    })
    // A clock that differs by more than the back-off must not stretch it.
    clock.wallOnly = -milliseconds
    expect(thrown(() => throwIfBackingOff(cache, context))).toBeUndefined()
    clock.wallOnly = 1 - milliseconds
    expect(thrown(() => throwIfBackingOff(cache, context))).toBeDefined()
    clock.wallOnly = 0
    cache.unwanted = 'a1'
    expect(pause(cache, context, clock)).toBe(60_000)
  })
})

describe('a token that the owner API refused', () => {
  it('was never accepted where it is younger than a minute, and came of a refresh', () => {
    const isUnusedAfter = (milliseconds: number, record: object = {}): boolean => {
      const clock = slowClock()
      const { cache, context } = known(clock, record)
      clock.now = milliseconds
      return isUnused(cache, context)
    }
    expect([isUnusedAfter(59_999), isUnusedAfter(60_000)]).toEqual([true, false])
    expect(isUnusedAfter(0, { refreshes: 0 })).toBe(false)
    expect(isUnusedAfter(0, { state: 'reauthentication-required' })).toBe(false)
  })

  it('is counted in the record, once, where nobody is at it and it was never accepted', async () => {
    const noted = async (
      record: object,
      change: Partial<AccountCache> = {},
      unused = true,
    ): Promise<readonly [unknown, number | undefined]> => {
      const { cache, context, store } = known(slowClock(), record)
      cache.rejected = { accessToken: 'a1', unused }
      Object.assign(cache, change)
      await noteRefusal(cache, context)
      const stored = await store.read('ann')
      expect([cache.version, cache.record]).toEqual([stored?.version, stored?.record])
      return [Reflect.get(Object(stored?.record), 'refusals'), stored?.version]
    }
    expect(await noted({})).toEqual([{ inARow: 1, thisOne: true }, 4])
    expect(await noted({ refusals: { inARow: 2, thisOne: false } })).toEqual([{ inARow: 3, thisOne: true }, 4])
    expect(await noted({ refusals: { inARow: 2, thisOne: true } })).toEqual([{ inARow: 2, thisOne: true }, 3])
    expect(await noted({}, {}, false)).toEqual([undefined, 3])
    expect(await noted({}, { rejected: undefined })).toEqual([undefined, 3])
    expect(await noted({ intent: { id: 'i', holder: { pid: 1 }, replay: 0, at: 0 } })).toEqual([undefined, 3])
    expect(await noted({}, { inFlight: {} as never })).toEqual([undefined, 3])
    expect(await noted({}, { unsaved: {} as never })).toEqual([undefined, 3])
    expect(await noted({ state: 'reauthentication-required', reason: 'other_owner' })).toEqual([undefined, 3])
    // Another process was faster.
    expect(await noted({}, { writeId: 'another' })).toEqual([undefined, 3])
    // What a store fails with is left for the next refresh, and nothing else is.
    const { cache, context } = known(slowClock())
    cache.rejected = { accessToken: 'a1', unused: true }
    const failing = (error: Error) => {
      const swap = async (): Promise<never> => {
        throw error
      }
      return { ...context, store: { ...context.store, swap } }
    }
    await noteRefusal(cache, failing(new StoreError('unavailable', 'x')))
    await expect(noteRefusal(cache, failing(new TypeError('x')))).rejects.toThrow(TypeError)
  })

  it('is noted at the next refresh where it could not be before', () => {
    const { cache } = known(slowClock())
    const before = (refusals?: object): unknown => refusalsBefore(cache, signedIn(refusals && { refusals }) as never)
    expect(before()).toStrictEqual({})
    expect(before({ inARow: 2, thisOne: true })).toStrictEqual({ refusals: { inARow: 2, thisOne: false } })
    expect(before({ inARow: 2, thisOne: false })).toStrictEqual({})
    cache.rejected = { accessToken: 'a1', unused: true }
    expect(before()).toStrictEqual({ refusals: { inARow: 1, thisOne: false } })
    expect(before({ inARow: 2, thisOne: false })).toStrictEqual({ refusals: { inARow: 3, thisOne: false } })
    expect(before({ inARow: 2, thisOne: true })).toStrictEqual({ refusals: { inARow: 2, thisOne: false } })
    cache.rejected = { accessToken: 'a0', unused: true }
    expect(before()).toStrictEqual({})
    cache.rejected = { accessToken: 'a1', unused: false }
    expect(before()).toStrictEqual({})
  })
})

describe('what a request came to', () => {
  const previous = { refresh_token: 'r1', auth_url: authUrl } as never
  const of = (outcome: unknown): ReturnType<typeof outcomeOf> =>
    outcomeOf(() => (outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(outcome as never)), previous)

  it.each<[string, Error]>([
    ['refused', new ReauthenticationRequiredError('refresh_token_rejected')],
    ['blocked', new FirewallChallengeError(1)],
    ['unspent', new TokenRejectedError('invalid_client')],
    ['unspent', new UnreachableError('x', { requestSent: false })],
    ['in-doubt', new UnreachableError('x')],
  ])('is %s for %s', async (kind, error) => {
    const outcome = await of(error)
    expect([outcome.kind, 'error' in outcome && outcome.error === error]).toEqual([kind, true])
  })

  it('is in doubt for any other error, which is not shown', async () => {
    const cause = Object.assign(new Error('secret'), { code: 'E_X' })
    expect(await of(cause)).toMatchObject({
      kind: 'in-doubt',
      error: { code: 'ERR_SSO_UNEXPECTED_RESPONSE', requestSent: true, cause: { code: 'E_X', message: 'E_X' } },
    })
  })

  it('is a token set as it came, or completed from the one before', async () => {
    const whole = {
      access_token: 'a2',
      refresh_token: 'r2',
      token_type: 'Bearer',
      expires_at: 7,
      auth_url: 'https://eu.example.com',
      state: 's',
    }
    const tokensOf = async (answer: object): Promise<object> => {
      const outcome = await of(answer)
      return outcome.kind === 'tokens' ? JSON.parse(JSON.stringify(outcome.tokens)) : outcome
    }
    expect(await tokensOf(whole)).toEqual(whole)
    const completed = {
      access_token: 'a2',
      refresh_token: 'r2',
      token_type: 'Bearer',
      expires_at: 7,
      auth_url: authUrl,
    }
    expect(await tokensOf({ ...whole, auth_url: 'nowhere' })).toEqual(completed)
    expect(await tokensOf({ access_token: 'a2', refresh_token: '', expires_at: 'x' })).toEqual({
      ...completed,
      refresh_token: 'r1',
      expires_at: 0,
    })
    expect(await tokensOf({ refresh_token: 'r2' })).toMatchObject({
      kind: 'in-doubt',
      error: { code: 'ERR_SSO_UNEXPECTED_RESPONSE', step: 'refresh' },
    })
  })
})

describe('an intent in the record', () => {
  const intent = (more: object = {}) => ({ id: 'i', holder: { pid: 1 }, replay: 0, at: start, ...more })

  it('is open, unless it is our own and nothing was spent under it', () => {
    const { cache } = known(slowClock(), { intent: intent() })
    const own = (more: object): unknown => openIntent({ ...cache, ownIntents: [{ id: 'i', ...more } as never] })
    const before = intent({ id: 'earlier' })
    expect(openIntent(cache)).toEqual(intent())
    expect(own({ spent: true, before: undefined })).toEqual(intent())
    expect(own({ spent: false, before: undefined })).toBeUndefined()
    expect(own({ spent: false, before })).toBe(before)
    expect(own({ id: 'other', spent: false, before })).toEqual(intent())
    expect(openIntent({ ...cache, record: { ...cache.record, state: 'reauthentication-required' } as never })).toBe(
      undefined,
    )
  })

  it('lives from our first sight of it, by the clock that never jumps, and not at all where it is our own', () => {
    const clock = slowClock()
    const { cache, context } = known(clock, { intent: intent() })
    const isAlive = (): boolean => isIntentAlive(cache, intent(), context)
    clock.wallOnly = 1_000_000
    clock.now = 44_999
    expect(isAlive()).toBe(true)
    clock.now = 45_000
    expect(isAlive()).toBe(false)
    cache.intentSeen = undefined
    expect(isAlive()).toBe(true)
    cache.ownIntents = [{ id: 'other', spent: false, before: undefined }]
    expect(isAlive()).toBe(true)
    cache.ownIntents = [{ id: 'i', spent: true, before: undefined }]
    expect(isAlive()).toBe(false)
  })

  it('is replayed at once the first time, then after a minute, twice as long each time, eight minutes at the most', () => {
    const left = (replay: number, change: Partial<AccountCache> = {}, at = start): number => {
      const clock = slowClock()
      const { cache, context } = known(clock, { intent: intent() })
      clock.now = 1000
      Object.assign(cache, change)
      return replayBackOffLeft(cache, intent({ replay, at }), context)
    }
    expect([0, 1, 2, 3, 4, 5].map((replay) => left(replay))).toEqual([0, 59_000, 119_000, 239_000, 479_000, 479_000])
    expect(left(4, { unwanted: 'a1' })).toBe(59_000)
    expect([left(1, {}, start - 30), left(1, {}, start + 31)]).toEqual([29_000, 30_000])
    const seen = { id: 'i', at: { wall: start * 1000, monotonic: 0 } }
    expect(left(1, { intentSeen: { ...seen, knewBefore: true } }, start - 30)).toBe(59_000)
    expect(left(1, { intentSeen: { ...seen, knewBefore: true }, unwanted: 'a1' }, start - 30)).toBe(29_000)
    expect(left(1, { intentSeen: undefined }, start)).toBe(59_000)
    expect(left(1, { intentSeen: undefined }, start + 1)).toBe(60_000)
  })

  it('is in its grace for as long as the service repeats a lost response, from the moment before it was sent', () => {
    const clock = slowClock()
    const { cache, context } = known(clock, { intent: intent() })
    const grace = { ...context, rotationGrace: 5000 }
    expect(isInGrace(cache, intent(), grace)).toBe(false)
    cache.lostResponse = { id: 'i', sentAt: { wall: start * 1000, monotonic: 0 } }
    clock.now = 4999
    expect([isInGrace(cache, intent(), grace), isInGrace(cache, intent({ id: 'j' }), grace)]).toEqual([true, false])
    clock.now = 5000
    expect(isInGrace(cache, intent(), grace)).toBe(false)
  })

  it('makes callers wait until the token is about to end, the next replay is due, or for a second', () => {
    const next = (age: number, replay?: number): unknown => {
      const clock = slowClock()
      const { cache, context } = known(clock, {
        obtained_at: start - age,
        ...(replay && { intent: intent({ replay }) }),
      })
      const cause = new Error('x')
      const error = inDoubt(cache, context, cause)
      expect(error).toMatchObject({ step: 'token-manager', requestSent: true, cause: { message: 'unknown cause' } })
      return error.nextAttemptAt - start
    }
    expect([next(28_000), next(28_670), next(28_679), next(30_000), next(30_000, 1), next(28_000, 1)]).toEqual([
      680, 10, 1, 1, 60, 680,
    ])
  })

  it('of our own is remembered with 16 others, and the one that stands in the record', () => {
    const own = (id: number) => ({ id: `i${id}`, spent: false, before: undefined })
    const twenty = Array.from({ length: 20 }, (_, index) => own(index))
    const ids = (...call: Parameters<typeof withOwnIntent>): string[] => withOwnIntent(...call).map(({ id }) => id)
    const last16 = twenty.slice(4).map(({ id }) => id)
    expect(ids(twenty, own(99), undefined)).toEqual([...last16, 'i99'])
    expect(ids(twenty, own(99), signedIn({ intent: { id: 'i2' } }) as never)).toEqual(['i2', ...last16, 'i99'])
    expect(ids(twenty.slice(0, 3), own(1), undefined)).toEqual(['i0', 'i2', 'i1'])
  })
})

describe('what the store has lost', () => {
  const out = { schema: 1, state: 'signed-out', generation: 2, session: 'o', signed_out_at: start } as never
  const restored = (session: string, obtained_at: number, more: object = {}) => ({
    version: 9,
    record: signedIn({
      session,
      obtained_at,
      intent: { id: 'r', holder: { pid: 2 }, replay: 0, at: 0, restored: true },
      ...more,
    }),
  })

  it('is put back as in doubt: with the replay that was open, or as of now', () => {
    const clock = slowClock()
    clock.now = 2900
    const { cache, context, record } = known(clock)
    const again = (replay: number, at: number): object => ({
      ...record,
      intent: { id: expect.any(String), holder: { pid: 1, boot: 'b' }, replay, at, restored: true },
    })
    expect(inDoubtAgain(record, cache, context)).toEqual(again(0, start + 2))
    expect(restorationOf(cache, undefined, context)).toEqual(again(0, start + 2))
    cache.record = { ...record, intent: { id: 'i', holder: { pid: 1 }, replay: 2, at: 7 } } as never
    expect(inDoubtAgain(record, cache, context)).toEqual(again(2, 7))
    expect(inDoubtAgain(out, cache, context)).toBe(out)
    cache.record = undefined
    expect(restorationOf(cache, undefined, context)).toBeUndefined()
  })

  it('is accepted as it was put back, unless a call of this process came in between', async () => {
    const { cache, context, store } = known(slowClock())
    Object.assign(context, {
      store: guardStore(slowly(store), undefined),
      emit: () => undefined,
      background: { outlivesCalls: false },
      rollCall: createRollCall(),
    })
    store.clear()
    expect(await syncFromStore(cache, context)).toBe(true)
    expect(cache).toMatchObject({ version: 1, record: { intent: { restored: true } } })
    store.clear()
    const synced = syncFromStore(cache, context)
    const ours = signedIn({ refreshes: 2 })
    await new Promise((resolve) => setImmediate(resolve))
    acceptRecord(cache, { version: 9, writeId: 'ours', record: ours }, context.runtime, 0.75)
    expect([await synced, cache.version, cache.record]).toEqual([true, 9, ours])
  })

  it('is what this process knows to be newer, and of two memories that know nothing of each other the later', () => {
    const clock = slowClock()
    const { cache, context } = known(clock)
    const puts = (stored: { version: number; record: unknown }): boolean =>
      restorationOf(cache, stored as never, context) !== undefined
    expect(puts({ version: 3, record: signedIn({ refreshes: 0 }) })).toBe(true)
    expect(puts({ version: 4, record: signedIn() })).toBe(false)
    expect([puts(restored('x', start - 1)), puts(restored('x', start)), puts(restored('x', start + 1))]).toEqual([
      true,
      false,
      false,
    ])
    expect(puts(restored('s', start - 1))).toBe(false)
    expect(puts(restored('x', start - 1, { replaces: ['s'] }))).toBe(false)
    expect(puts(restored('x', start - 1, { intent: { id: 'r', holder: { pid: 2 }, replay: 0, at: 0 } }))).toBe(false)
    expect(puts(restored('x', start - 1, { state: 'reauthentication-required' }))).toBe(false)
    // A day ahead is believed, and no second more.
    expect([puts(restored('x', start + 86_400)), puts(restored('x', start + 86_401))]).toEqual([false, true])
    cache.record = out
    expect([puts(restored('x', start - 1)), puts(restored('x', start))]).toEqual([true, false])
    cache.record = { ...(out as object), signed_out_at: undefined } as never
    expect(puts(restored('x', 1))).toBe(false)
    cache.record = { ...signedIn(), session: 'y' }
    expect(restorationOf(cache, restored('x', start - 1) as never, context)).toMatchObject({
      session: 'y',
      replaces: ['x'],
    })
  })
})

describe('a refresh token that was brought along', () => {
  const lineage = lineageOf('ann', 'r1')
  const bare = bareTokenSet({ refresh_token: 'r1', auth_url: authUrl })

  it('stands as a token set without an access token, and gives way to the session that is there', () => {
    expect(JSON.parse(JSON.stringify(bare))).toEqual({
      access_token: '',
      refresh_token: 'r1',
      token_type: 'Bearer',
      expires_at: 0,
      auth_url: authUrl,
    })
    expect([isBare(bare), isBare({ ...bare, access_token: 'a' })]).toEqual([true, false])
    const may = (stored: AccountRecord | undefined): unknown => {
      try {
        return mayTakeThePlaceOf(stored, 'ann', bare)
      } catch (error) {
        return error
      }
    }
    const where = { step: 'token-manager', requestSent: false }
    const end = { state: 'reauthentication-required', reason: 'rotated_token_lost', description: 'gone' }
    expect([may(undefined), may({ schema: 1, state: 'signed-out', generation: 1 } as never)]).toEqual([true, true])
    expect([may(signedIn({ lineage })), may(signedIn(end))]).toEqual([false, true])
    expect(may(signedIn())).toMatchObject({ ...where, code: 'ERR_SSO_SESSION_EXISTS' })
  })

  it('is another owner’s only where the issuer says so', async () => {
    const says = (isOfAnother?: () => Promise<unknown>): Promise<boolean> =>
      isOfAnotherOwner('ann', bare, { sso: { isOfAnotherOwner: isOfAnother } } as never)
    expect([
      await says(async () => true),
      await says(async () => false),
      await says(async () => 'yes'),
      await says(() => Promise.reject(new Error('x'))),
      await says(),
    ]).toEqual([true, false, false, false, false])
  })
})
