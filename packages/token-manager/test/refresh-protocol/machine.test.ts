/** The rules of the refresh protocol as tables: what is known and what happened, and what is known and done then. */
import { describe, expect, it } from '@jest/globals'
import {
  FirewallChallengeError,
  ReauthenticationRequiredError,
  type SsoError,
  TokenRejectedError,
  UnreachableError,
} from '../../src/index.ts'
import {
  type Ages,
  agesOf,
  assumedLifetime,
  type Freshness,
  freshnessAt,
  jitterOf,
} from '../../src/refresh-protocol/freshness.ts'
import type { Liveness } from '../../src/support/holder.ts'
import {
  accepted,
  type Knowledge,
  type Moment,
  nothingKnown,
  withOwnIntent,
} from '../../src/refresh-protocol/knowledge.ts'
import { ancestryOver, isBehind, mayReplace, type VersionedRecord } from '../../src/store/lineage.ts'
import { type Decision, decide, machine } from '../../src/refresh-protocol/machine.ts'
import { type Outcome, outcomeOf, outcomeOfFailure, SendGuardError } from '../../src/refresh-protocol/outcome.ts'
import {
  backingOff,
  inDoubt,
  isInGrace,
  isIntentAlive,
  isJustRefreshed,
  replayRestLeft,
  restedFrom,
} from '../../src/refresh-protocol/pace.ts'
import type { Event, HeldRequest, Step, Swap } from '../../src/refresh-protocol/steps.ts'
import type { AccountRecord, Intent, SignedIn, SignedOut } from '../../src/store/token-record.ts'
import { authUrl, signedIn, start } from './by-hand.ts'

const minute = 60_000
const hour = 60 * minute
const life = 8 * hour

const settings = { refreshAfter: 0.75, minRefreshInterval: minute, rotationGrace: 0, outlivesCalls: true }

/** So many milliseconds after the tokens were obtained. */
function moment(milliseconds: number, more: Partial<Moment> = {}): Moment {
  return {
    wall: start * 1000 + milliseconds,
    monotonic: milliseconds,
    settings,
    holder: { pid: 1 },
    livenessOf: () => 'unknown',
    uniqueId: () => 'new',
    isEnding: false,
    ...more,
  }
}

const intent = (more: Partial<Intent> = {}): Intent => ({ id: 'i', holder: { pid: 7 }, replay: 0, at: start, ...more })
const ended = (): AccountRecord => {
  const { schema, generation, refreshes, lineage, tokens, obtained_at, lifetime } = signedIn()
  const held = { schema, generation, session: 's', replaces: [], refreshes, lineage, tokens, obtained_at, lifetime }
  return { ...held, state: 'reauthentication-required', reason: 'refresh_token_rejected' }
}
const tombstone: SignedOut = { schema: 1, state: 'signed-out', generation: 2, session: 'out', replaces: ['s'] }

const stored = (record: AccountRecord, version = 1): VersionedRecord => ({ version, writeId: `w${version}`, record })

/** What is known of an account whose record was first seen at the beginning. */
const knowing = (record: AccountRecord, sight: Moment = moment(0)): Knowledge =>
  accepted(nothingKnown('ann'), stored(record), sight)

describe('what one look at the record leads to', () => {
  const invalidated = { invalidated: { accessToken: 'a1', unused: false } }
  const old = { refreshes: 0 }
  const lost = intent({ answerLost: true })

  it.each<[Decision, string, AccountRecord, number, Partial<Knowledge>]>([
    ['not-signed-in', 'a tombstone', tombstone, 0, {}],
    ['sign-in-again', 'the end of its refresh token', ended(), 0, {}],
    ['serve', 'fresh tokens', signedIn(old), hour, {}],
    ['serve', 'fresh tokens and an intent', signedIn({ ...old, intent: intent() }), hour, {}],
    ['send', 'ageing tokens', signedIn(old), 7 * hour, {}],
    ['send', 'a refused access token', signedIn(old), hour, invalidated],
    ['send', 'a call of refresh()', signedIn(old), hour, { toReplace: 'a1' }],
    ['serve', 'a call of refresh() for other tokens', signedIn(old), hour, { toReplace: 'a0' }],
    ['serve', 'a refused access token just after a refresh', signedIn(), 59_999, invalidated],
    ['send', 'a refused access token a minute after a refresh', signedIn(), minute, invalidated],
    ['defer', 'a lost answer while the tokens age', signedIn({ ...old, intent: lost }), 7 * hour, {}],
    ['replay', 'a lost answer two minutes before the end', signedIn({ ...old, intent: lost }), life - 2 * minute, {}],
    ['replay', 'a lost answer and a refused access token', signedIn({ ...old, intent: lost }), hour, invalidated],
    ['replay', 'a lost answer, past the end', signedIn({ ...old, intent: lost }), life, {}],
  ])('%s: %s', (decision, _what, record, at, more) => {
    expect(decide({ ...knowing(record), ...more }, moment(at))).toBe(decision)
  })

  it('waits for an intent that is alive, and is sure that nothing was spent under one of its own', () => {
    const known = knowing(signedIn({ refreshes: 0, intent: intent() }), moment(7 * hour))
    expect(decide(known, moment(7 * hour + 44_999))).toBe('wait')
    expect(decide(known, moment(7 * hour + 45_000))).toBe('defer')
    const own = withOwnIntent(known, { id: 'i', spent: false, before: undefined })
    expect(decide(own, moment(7 * hour))).toBe('send')
    expect(decide(withOwnIntent(known, { id: 'i', spent: true, before: undefined }), moment(7 * hour))).toBe('defer')
  })
})

describe('the life of an intent', () => {
  it.each<[string, Partial<Intent>, Liveness, number]>([
    ['45 seconds', {}, 'unknown', 45_000],
    ['two minutes where its holder provably runs', {}, 'running', 120_000],
    ['nothing where its holder is provably dead', {}, 'dead', 0],
    ['nothing once its holder gave up', { answerLost: true }, 'running', 0],
    ['two minutes where it was put back, whoever lives', { restored: true }, 'dead', 120_000],
  ])('is %s', (_words, more, liveness, expected) => {
    const of = intent(more)
    const known = knowing(signedIn({ intent: of }))
    const isAlive = (at: number, wall = at): boolean =>
      isIntentAlive(known, of, { ...moment(at, { livenessOf: () => liveness }), wall: start * 1000 + wall })
    // By the clock that never jumps.
    expect([expected === 0 || isAlive(expected - 1, hour), isAlive(expected, 0)]).toEqual([true, false])
  })

  it('begins anew where the store was down: its holder could not store anything either', () => {
    const known = knowing(signedIn({ intent: intent() }))
    const look = machine.step(known, { on: 'begun', flow: { kind: 'look' } }, moment(0)).next
    if (look.do !== 'look') throw new Error('a look begins with one')
    const after = machine.step(known, { on: 'failed', task: look, error: new Error('down') }, moment(40_000)).knowledge
    const again = accepted(after, stored(signedIn({ intent: intent() })), moment(50_000))
    expect(isIntentAlive(again, intent(), moment(94_999))).toBe(true)
    expect(isIntentAlive(again, intent(), moment(95_000))).toBe(false)
  })
})

describe('the pace', () => {
  const refusals = (inARow: number, thisOne = true): Partial<SignedIn> => ({ refusals: { inARow, thisOne } })
  const late = Math.ceil(agesOf(signedIn({ lifetime: 3000, ...refusals(7) }), 0.75).ageing)

  it.each<[string, Partial<SignedIn>, number]>([
    ['a minute', {}, minute],
    ['nothing where there was none before', { refreshes: 0 }, 0],
    ['half the life of tokens that live less than two minutes', { lifetime: 100 }, 50_000],
    ['ten seconds at the least', { lifetime: 19 }, 10_000],
    ['as long after the first token that was refused', refusals(1), minute],
    ['twice as long after the second', refusals(2), 2 * minute],
    ['twice as long again after the third', refusals(3), 4 * minute],
    ['an hour after any number of them', refusals(50), hour],
    ['for a token that ages by then no longer than for others', { lifetime: 3000, ...refusals(7) }, late],
    ['a minute where this token was not refused', refusals(7, false), minute],
  ])('of one refresh after another is %s', (_words, record, pause) => {
    const known = knowing(signedIn(record))
    expect([pause === 0 || isJustRefreshed(known, moment(pause - 1)), isJustRefreshed(known, moment(pause))]).toEqual([
      true,
      false,
    ])
  })

  it.each([
    [0, 0],
    [1, minute],
    [2, 2 * minute],
    [4, 8 * minute],
    [40, 8 * minute],
  ])('of a replay after %d others is %d ms; for refresh() a minute', (replay, pause) => {
    const of = intent({ replay, answerLost: true })
    const known = knowing(signedIn({ refreshes: 0, intent: of }))
    expect(replayRestLeft(known, of, moment(0))).toBe(pause)
    expect(replayRestLeft({ ...known, toReplace: 'a1' }, of, moment(0))).toBe(Math.min(pause, minute))
  })

  it('of a failure that spent nothing is a minute, twice as long each time, eight at the most', () => {
    let known = knowing(signedIn())
    const error = new UnreachableError('simulated', { requestSent: false })
    for (const pause of [1, 2, 4, 8, 8].map((minutes) => minutes * minute)) {
      known = backingOff(known, error, moment(0))
      expect([restedFrom(known, moment(pause - 1)), restedFrom(known, moment(pause))]).toEqual([error, undefined])
      expect(restedFrom({ ...known, toReplace: 'a1' }, moment(minute))).toBeUndefined()
    }
  })

  it('of a grace is what the service promises, from the moment before the request', () => {
    const known = { ...knowing(signedIn()), lostAnswer: { id: 'i', sentAt: moment(0) } }
    const graceful = (at: number): Moment => moment(at, { settings: { ...settings, rotationGrace: 30_000 } })
    expect([29_999, 30_000].map((at) => isInGrace(known, intent(), graceful(at)))).toEqual([true, false])
    expect(isInGrace(known, intent({ id: 'another' }), graceful(0))).toBe(false)
    expect(isInGrace(known, intent(), moment(0))).toBe(false)
  })

  it('of callers in doubt is told: until the token is about to end, the next replay is due, or for a second', () => {
    const of = intent({ replay: 1, answerLost: true })
    const wait = (at: number): number =>
      inDoubt(knowing(signedIn({ intent: of })), moment(at)).nextAttemptAt - start - at / 1000
    expect([hour, life].map(wait)).toEqual([(7 * hour - 2 * minute) / 1000, 1])
    expect(wait(0)).toBe((life - 2 * minute) / 1000)
  })
})

describe('how fresh a token is', () => {
  const spread = 0.9 + 0.2 * jitterOf('l1')
  it.each<[number, number, Ages]>([
    [28_800, 0.75, { ageing: 21_600_000 * spread, expiring: 28_680_000, expired: 28_790_000 }],
    [1200, 0.5, { ageing: 600_000 * spread, expiring: 1_080_000, expired: 1_190_000 }],
    [100, 0.5, { ageing: 50_000 * spread, expiring: 90_000, expired: 95_000 }],
  ])('that lives %d seconds, refreshed after %d of them', (lifetime, refreshAfter, ages) => {
    expect(agesOf(signedIn({ lifetime }), refreshAfter)).toEqual(ages)
    const at: [number, Freshness][] = [
      [ages.expiring, 'expiring'],
      [ages.expired - 1, 'expiring'],
      [ages.expired, 'expired'],
    ]
    for (const [age, freshness] of at) expect(freshnessAt(age, ages)).toBe(freshness)
  })

  it.each([
    [86_401, true, 86_400],
    [1, true, 1],
    [0, true, 28_800],
    [-1, true, 28_800],
    [0, false, 0],
    [-1, false, 0],
  ])('that has %d seconds left (just issued: %p) is %d', (left, isNew, expected) => {
    expect(assumedLifetime({ ...signedIn().tokens, expires_at: 1000 + left }, 1000, isNew)).toBe(expected)
  })
})

/** The request of a refresh that was decided upon at some moment, from its intent on. */
function request(record: SignedIn, at: number): { readonly known: Knowledge; readonly held: HeldRequest } {
  const flow = { kind: 'refresh', began: at } as const
  let known = knowing(record)
  const follow = (event: Event): Step['next'] => {
    const step = machine.step(known, event, moment(at))
    known = step.knowledge
    return step.next
  }
  const look = follow({ on: 'begun', flow })
  if (look.do !== 'look') throw new Error('a refresh begins with a look')
  const permit = follow({ on: 'looked', task: look, stored: stored(record), spooled: undefined, lookedAt: moment(at) })
  if (permit.do !== 'permit') throw new Error(`${permit.do} instead of a request`)
  const swap = follow({ on: 'permitted', task: permit, hasWaited: false })
  if (swap.do !== 'swap') throw new Error(`${swap.do} instead of an intent`)
  const send = follow({ on: 'swapped', task: swap, write: { version: 2, writeId: 'w2' } })
  if (send.do !== 'send') throw new Error(`${send.do} instead of a request`)
  return { known, held: send.request }
}

describe('what follows from an answer', () => {
  const record = signedIn({ refreshes: 3 })
  const doubtful = signedIn({ refreshes: 3, intent: intent({ answerLost: true }) })
  const fresh = { ...record.tokens, access_token: 'a2', refresh_token: 'r2', expires_at: start + 100_000 }
  const tokens: Outcome = { kind: 'tokens', tokens: fresh, isOfAnotherOwner: false }

  function written(of: SignedIn, outcome: Outcome): Swap & { readonly error: unknown } {
    const at = life
    const { known, held } = request(of, at)
    const flow = { kind: 'refresh', began: at } as const
    const task = { do: 'send', flow, request: held } as const
    let step = machine.step(known, { on: 'answered', task, outcome, sentAt: moment(at) }, moment(at + 1000))
    if (step.next.do === 'report') {
      const reported = { on: 'reported', task: step.next, nextAttemptAt: start + 90_000 } as const
      step = machine.step(step.knowledge, reported, moment(at + 1000))
    }
    const { next: swap } = step
    if (swap.do !== 'swap') throw new Error(`${swap.do} instead of a record`)
    const after = machine.step(step.knowledge, { on: 'swapped', task: swap, write: { version: 3 } }, moment(at + 2000))
    return { ...swap, error: after.next.do === 'end' ? after.next.error : undefined }
  }
  const unsent = (error: SsoError): Outcome => outcomeOfFailure(error)

  it('new tokens take the place of the old ones, as old as they can be', () => {
    expect(written(record, tokens).record).toMatchObject({
      state: 'signed-in',
      refreshes: 4,
      tokens: { auth_url: authUrl, expires_at: start + 100_000 },
      obtained_at: start + life / 1000,
    })
  })

  it('a refused grant is the end; after a lost answer it says that the new refresh token was lost', () => {
    const refused = unsent(new ReauthenticationRequiredError('refresh_token_rejected'))
    expect(written(record, refused).record).toMatchObject({
      state: 'reauthentication-required',
      reason: 'refresh_token_rejected',
    })
    expect(written(doubtful, refused).record).toMatchObject({ reason: 'rotated_token_lost' })
  })

  it('a lost answer leaves the intent, which says that nobody waits for it any more', () => {
    const lost = written(record, unsent(new UnreachableError('simulated', { requestSent: true })))
    expect(lost.record).toMatchObject({ state: 'signed-in', intent: { id: 'new', answerLost: true, replay: 0 } })
    expect(lost.error).toMatchObject({ code: 'ERR_SSO_REFRESH_IN_DOUBT' })
    const again = written(doubtful, unsent(new UnreachableError('simulated', { requestSent: true })))
    expect(again.record).toMatchObject({ intent: { answerLost: true, replay: 1 } })
  })

  it.each<[string, SsoError]>([
    ['that was not sent', new UnreachableError('simulated', { requestSent: false })],
    ['that was held up', new SendGuardError()],
    ['that met a firewall', new FirewallChallengeError(start + 90_000)],
    ['that was wrong', new TokenRejectedError('invalid_client')],
  ])('a request %s takes its intent out, and leaves a doubt of before', (_what, error) => {
    const outcome = unsent(error)
    expect(written(record, outcome).record).not.toHaveProperty('intent')
    expect(written(doubtful, outcome).record).toMatchObject({ intent: { id: 'i', answerLost: true } })
  })

  it('a request that is called wrong is counted; the fifth in a row is a refusal', () => {
    const wrong = unsent(new TokenRejectedError('invalid_request'))
    const after = (inARow: number): AccountRecord =>
      written(signedIn({ rejections: { inARow, at: start } }), wrong).record
    expect(written(record, wrong).record).toMatchObject({ rejections: { inARow: 1, at: start + life / 1000 + 1 } })
    expect(after(3)).toMatchObject({ state: 'signed-in', rejections: { inARow: 4 } })
    expect(after(4)).toMatchObject({ state: 'reauthentication-required', reason: 'refresh_token_rejected' })
  })

  it('tokens of another owner are kept, and none is served', () => {
    expect(written(record, { kind: 'tokens', tokens: fresh, isOfAnotherOwner: true }).record).toMatchObject({
      state: 'reauthentication-required',
      reason: 'other_owner',
      lifetime: 0,
    })
  })

  it('the send guard is open for ten seconds from the moment before the swap, by the clock that shows more', () => {
    const { known, held } = request(record, life)
    const may = (at: Moment): boolean => machine.maySend(known, held, at)
    expect([may(moment(life + 10_000)), may(moment(life + 10_001))]).toEqual([true, false])
    expect(may({ ...moment(life), wall: moment(life + 10_001).wall })).toBe(false)
    expect(may({ ...moment(life), monotonic: life + 10_001 })).toBe(false)
  })
})

describe('what an error says of the refresh token that was sent', () => {
  it.each<[Outcome['kind'], unknown]>([
    ['invalid-grant', new ReauthenticationRequiredError('refresh_token_rejected')],
    ['challenged', new FirewallChallengeError(1)],
    ['unspent', new TokenRejectedError('invalid_client')],
    ['unspent', new UnreachableError('x', { requestSent: false })],
    ['in-doubt', new UnreachableError('x', { requestSent: true })],
    ['in-doubt', new Error('x')],
    ['in-doubt', undefined],
  ])('%s: %p', (kind, error) => {
    expect(outcomeOfFailure(error).kind).toBe(kind)
  })

  it('a token set that lacks something is completed from the one before; without an access token it is none', async () => {
    const before = signedIn().tokens
    const nobody = async (): Promise<boolean> => false
    const partial = { ...before, access_token: 'a2', refresh_token: '', auth_url: '' }
    const completed = await outcomeOf(async () => partial, before, nobody)
    if (completed.kind !== 'tokens') throw new Error(completed.kind)
    const { access_token, refresh_token, auth_url } = completed.tokens
    expect([access_token, refresh_token, auth_url]).toEqual(['a2', 'r1', authUrl])
    expect((await outcomeOf(async () => ({ ...before, access_token: '' }), before, nobody)).kind).toBe('in-doubt')
  })
})

describe('what may stand in place of what', () => {
  const next = signedIn({ refreshes: 2, lineage: 'l2' })
  const derivedFrom = signedIn()
  const kept = signedIn({ refreshes: 2 })

  it.each<[boolean, string, AccountRecord, SignedIn]>([
    [true, 'a result over what it was derived from', derivedFrom, next],
    [true, 'the same with another’s intent in it', signedIn({ intent: intent() }), next],
    [true, 'a result over the refusal of a replay', ended(), next],
    [false, 'a result over a sign-out', tombstone, next],
    [false, 'a result over another refresh token', signedIn({ lineage: 'l3' }), next],
    [true, 'a result that brings no other refresh token', derivedFrom, kept],
    [false, 'the same over a newer one', signedIn({ refreshes: 2 }), kept],
  ])('%p: %s', (expected, _what, over, result) => {
    expect(mayReplace(over, { derivedFrom, next: result })).toBe(expected)
  })

  it.each<[boolean, string, VersionedRecord, VersionedRecord]>([
    [true, 'a sign-in that a sign-out was made over', stored(signedIn()), stored(tombstone)],
    [false, 'a sign-out before what it was made over', stored(tombstone), stored(signedIn())],
    [false, 'another sign-in that nothing is known of', stored(signedIn({ session: 'b' })), stored(signedIn())],
    [true, 'fewer refreshes', stored(signedIn()), stored(signedIn({ refreshes: 2 }))],
    [false, 'more refreshes', stored(signedIn({ refreshes: 2 })), stored(signedIn())],
    [true, 'the same without its refusal', stored(signedIn()), stored(ended())],
    [true, 'the same without its intent', stored(signedIn(), 1), stored(signedIn({ intent: intent() }), 2)],
    [false, 'the same whose intent went out', stored(signedIn(), 3), stored(signedIn({ intent: intent() }), 2)],
  ])('is behind (%p): %s', (expected, _what, one, other) => {
    expect(isBehind(one, other)).toBe(expected)
  })

  it('a sign-in carries the names of sixteen before it, the newest first', () => {
    const many = Array.from({ length: 16 }, (_, index) => `s${index}`)
    expect(ancestryOver('new', signedIn({ session: 'a', replaces: many }), undefined)).toEqual({
      schema: 1,
      generation: 2,
      session: 'new',
      replaces: ['a', ...many.slice(0, 15)],
    })
    expect(ancestryOver('new')).toEqual({ schema: 1, generation: 1, session: 'new', replaces: [] })
  })
})

describe('a store that lost something', () => {
  function looked(known: Knowledge, found: VersionedRecord | undefined): Step {
    const task = { do: 'look', flow: { kind: 'look' }, host: undefined, upon: { version: 1 } } as const
    return machine.step(
      known,
      { on: 'looked', task, stored: found, spooled: undefined, lookedAt: moment(hour) },
      moment(hour),
    )
  }

  it('gets back what is known, as one that nobody may send yet', () => {
    for (const found of [undefined, stored(signedIn({ refreshes: 0 }), 5)]) {
      const { next } = looked(knowing(signedIn()), found)
      expect(next).toMatchObject({
        do: 'swap',
        over: found,
        record: { refreshes: 1, intent: { id: 'new', restored: true } },
      })
    }
  })

  it('gets back a sign-out, without any doubt', () => {
    const { next } = looked(knowing(tombstone), stored(signedIn()))
    expect(next).toMatchObject({ do: 'swap', record: tombstone, forgetOlder: true })
  })

  it('is believed where it holds something newer, or another sign-in', () => {
    for (const record of [signedIn({ refreshes: 2 }), signedIn({ session: 'b' }), tombstone]) {
      const { knowledge, next } = looked(knowing(signedIn()), stored(record, 9))
      expect([knowledge.record, next.do]).toEqual([record, 'end'])
    }
  })

  it('holds the later of two memories that know nothing of each other; a time yet to come is not believed', () => {
    const other = (obtained_at: number): VersionedRecord =>
      stored(signedIn({ session: 'b', obtained_at, intent: intent({ restored: true }) }), 9)
    const isPutBack = (obtained_at: number): boolean =>
      looked(knowing(signedIn()), other(obtained_at)).next.do === 'swap'
    expect([start - 1, start, start + 1, start + 400_000].map(isPutBack)).toEqual([true, false, false, true])
  })
})
