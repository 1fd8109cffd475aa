/** The rules of the refresh protocol as tables: what stands in the record, what happened, and what the machine does next. */
import { describe, expect, it } from '@jest/globals'
import { type Knowledge, type Moment, nothingKnown } from '../../src/kernel/knowledge.ts'
import { machine } from '../../src/kernel/machine.ts'
import type { Begun, Event } from '../../src/kernel/steps.ts'
import type { AccountRecord, Intent, SignedIn } from '../../src/store/token-record.ts'
import type { Liveness } from '../../src/support/holder.ts'

const start = 1_790_000_000
const seconds = (count: number): number => count * 1000
const minutes = (count: number): number => count * 60_000
const hours = (count: number): number => count * 3_600_000

/** So many milliseconds after the tokens were obtained, on each of both clocks. */
const moment = (monotonic: number, wall = monotonic, liveness: Liveness = 'unknown'): Moment => ({
  wall: start * 1000 + wall,
  monotonic,
  settings: {
    refreshAfter: 0.75,
    minRefreshInterval: minutes(1),
    rotationGrace: 0,
    outlivesCalls: true,
    refreshesElsewhere: false,
  },
  holder: { pid: 1 },
  livenessOf: () => liveness,
  uniqueId: () => 'new',
  isEnding: false,
})

const session = { schema: 1, generation: 1, session: 's', replaces: [] } as const
const held = {
  ...session,
  refreshes: 0,
  lineage: 'l',
  obtained_at: start,
  lifetime: 28_800,
  tokens: {
    access_token: 'a',
    refresh_token: 'r',
    token_type: 'Bearer',
    expires_at: start,
    auth_url: 'https://a.example',
  },
}
const signedIn = (more: Partial<SignedIn> = {}): SignedIn => ({ ...held, state: 'signed-in', ...more })
/** Somebody's intent to refresh. */
const intended = (more: Partial<Intent> = {}): SignedIn =>
  signedIn({ intent: { id: 'i', holder: { pid: 7 }, replay: 0, at: start, ...more } })
const lost = intended({ answerLost: true })
const refreshed = signedIn({ refreshes: 1 })
const ended: AccountRecord = { ...held, state: 'reauthentication-required', reason: 'refresh_token_rejected' }
const signedOut: AccountRecord = { ...session, state: 'signed-out' }

/** A look at the record. Returns what is known then, and what is done next. */
function looked(known: Knowledge, flow: Begun, record: AccountRecord, now: Moment) {
  const { knowledge, next: look } = machine.step(known, { on: 'begun', flow }, now)
  if (look.do !== 'read') throw new Error(`${look.do} instead of a look`)
  const stored = { version: 1, writeId: 'w', record }
  return machine.step(knowledge, { on: 'read', task: look, stored, at: now }, now)
}

/** What a refresh leads to, at some moment, where the record was first seen as the tokens were obtained. */
function refreshOf(record: AccountRecord, now: Moment, ...before: readonly Event[]): string {
  let known = looked(nothingKnown('ann'), { kind: 'look' }, record, moment(0)).knowledge
  for (const event of before) known = machine.step(known, event, now).knowledge
  const { next } = looked(known, { kind: 'refresh', began: now.monotonic }, record, now)
  if (next.do === 'enter') return next.replay ? 'replay' : 'send'
  if (next.do !== 'end') return next.do
  return next.error === undefined ? 'serve' : String(Reflect.get(next.error, 'code'))
}

describe('what one look at the record leads to', () => {
  const refused: Event = { on: 'begun', flow: { kind: 'invalidate', accessToken: 'a', mayRefresh: true } }
  const asked = (accessToken: string): Event => ({ on: 'replacement-asked', accessToken })

  it.each<[string, string, AccountRecord, number, ...Event[]]>([
    ['ERR_SSO_SIGNED_OUT', 'a sign-out', signedOut, 0],
    ['ERR_SSO_REAUTHENTICATION_REQUIRED', 'the end of its refresh token', ended, 0],
    ['serve', 'fresh tokens', signedIn(), hours(1)],
    ['serve', 'fresh tokens and an intent', intended(), hours(1)],
    ['send', 'ageing tokens', signedIn(), hours(7)],
    ['send', 'a refused access token', signedIn(), hours(1), refused],
    ['send', 'a call of refresh()', signedIn(), hours(1), asked('a')],
    ['serve', 'a call of refresh() for other tokens', signedIn(), hours(1), asked('another')],
    ['serve', 'a refused access token just after a refresh', refreshed, minutes(1) - 1, refused],
    ['send', 'a refused access token a minute after a refresh', refreshed, minutes(1), refused],
    ['ERR_SSO_REFRESH_IN_DOUBT', 'a lost answer while the tokens age', lost, hours(8) - minutes(2) - 1],
    ['replay', 'a lost answer two minutes before the end', lost, hours(8) - minutes(2)],
    ['replay', 'a lost answer and a refused access token', lost, hours(1), refused],
    ['replay', 'a lost answer and a call of refresh()', lost, hours(1), asked('a')],
  ])('%s: %s', (decision, _what, record, at, ...before) => {
    expect(refreshOf(record, moment(at), ...before)).toBe(decision)
  })
})

describe('an intent is waited for', () => {
  it.each<[string, Partial<Intent>, Liveness, number]>([
    ['45 seconds', {}, 'unknown', seconds(45)],
    ['two minutes where its holder provably runs', {}, 'running', minutes(2)],
    ['two minutes where it was put back, whoever lives', { restored: true }, 'dead', minutes(2)],
  ])('%s, by the clock that never jumps', (_words, more, liveness, life) => {
    const asked: Event = { on: 'replacement-asked', accessToken: 'a' }
    const after = (monotonic: number, wall: number): string =>
      refreshOf(intended(more), moment(monotonic, wall, liveness), asked)
    expect([after(life - 1, hours(1)), after(life, 0)]).toEqual(['watch', 'replay'])
  })

  it.each<[string, Partial<Intent>, Liveness]>([
    ['its holder is provably dead', {}, 'dead'],
    ['its holder gave up', { answerLost: true }, 'running'],
  ])('no longer once %s', (_words, more, liveness) => {
    const asked: Event = { on: 'replacement-asked', accessToken: 'a' }
    expect(refreshOf(intended(more), moment(0, 0, liveness), asked)).toBe('replay')
  })
})
