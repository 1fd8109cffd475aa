/** The rule that names the cause: each by the facts that lead to it, and to no other. They are staged for real in tests/reliability. */
import { describe, expect, it } from '@jest/globals'
import { type Cause, type HistoryEvent, StoreError, type TokenStatus, type Why } from '../../src/index.ts'
import { type Facts, whyOf as toldBy } from '../../src/manager/why.ts'
import { account, bench, signedIn } from '../refresh-protocol/harness.ts'

const hour = 3600
const day = 24 * hour
const start = 1_767_225_600
const token = 'Zp3kX9aQ'

/** An event of the token in question, so many hours after the start. */
const event = (hours: number, what: HistoryEvent['what'], more: Partial<HistoryEvent> = {}): HistoryEvent => {
  const at = start + hours * hour
  return { what, at, until: at, times: 1, host: 'nas', pid: 7, token, ...more }
}
const cameIn = event(0, 'signed-in')
const endedBy = (hours: number, more: Partial<HistoryEvent> = {}): HistoryEvent =>
  event(hours, 'ended', { why: 'due', code: 'login_required', ...more })
const times = { obtained_at: start, expires_at: start + 8 * hour }
const valid: TokenStatus = { state: 'valid', ...times }
const over: TokenStatus = { state: 'reauthentication-required', reason: 'refresh_token_rejected', ...times }
const doubtful: TokenStatus = { state: 'in-doubt', ...times }

/** A record with this history. */
const recordWith = (events: readonly HistoryEvent[], { unreadable = 0, ...more }: Details): Facts['record'] => {
  const texts = events.map(({ at, what, why = '-', code = '-', host, pid, token: its, times: often, until }) =>
    [at, what, why, code, `${host}:${pid}`, its, ...(often === 1 ? [] : [often, until])].join(' '),
  )
  const history = [...texts, ...Array.from({ length: unreadable }, () => '?!')].join(';')
  return JSON.parse(
    JSON.stringify({ state: 'reauthentication-required', lineage: `${token}-and-more`, history, ...more }),
  )
}
interface Details {
  readonly unreadable?: number
  readonly description?: string
  readonly lineage?: string
}
const facts = (
  status: TokenStatus,
  events: readonly HistoryEvent[],
  { intent, store, ...record }: Details & { readonly intent?: object; readonly store?: StoreError['reason'] } = {},
): Facts => ({
  status,
  record: recordWith(events, record),
  ...(intent && { intent: { id: 'i', replay: 0, holder, at: start, ...intent } }),
  ...(store && { store, record: undefined }),
  now: start + 10 * hour,
})
const whyOf = (given: Facts): Why => toldBy(given).why
const holder = { pid: 9, host: 'server' }
const former = [0, 7, 14].map((at) => event(at, 'refreshed', { token: `token-${at}` }))

const table: readonly (readonly [Cause, sure: boolean, Facts, and?: string])[] = [
  ['store-key', true, facts(valid, [], { store: 'wrong-key' })],
  ['store-unreadable', true, facts(valid, [], { store: 'unavailable' })],
  ['nothing-stored', true, { ...facts({ state: 'signed-out' }, []), record: undefined }],
  ['signed-out', true, facts({ state: 'signed-out' }, [cameIn, event(1, 'signed-out')])],
  ['other-owner', true, facts({ ...over, reason: 'other_owner' }, [cameIn, endedBy(1)])],
  ['older-release', true, facts(over, [cameIn], { lineage: 'another' })],
  ['older-release', false, facts(over, [cameIn], { unreadable: 1 }), 'with a damaged history'],
  ['refreshing', false, facts(valid, [cameIn], { intent: { at: start + 10 * hour - 5 } })],
  ['answer-lost', true, facts(doubtful, [cameIn, event(7, 'in-doubt', { code: 'TIMEOUT' })]), 'pending'],
  ['answer-lost', false, facts(over, [cameIn, event(7, 'in-doubt', { code: 'UNREACHABLE' }), endedBy(8)])],
  ['holder-gone', false, facts(doubtful, [cameIn], { intent: { at: start + 7 * hour } }), 'pending'],
  ['holder-gone', false, facts(valid, [cameIn], { intent: { at: start + 7 * hour } }), 'for too long'],
  ['holder-gone', false, facts(over, [cameIn, event(7, 'in-doubt', { code: 'no_word' }), endedBy(8)])],
  ['store-set-back', true, facts(doubtful, [cameIn], { intent: { restored: true } })],
  ['store-set-back', false, facts(over, [cameIn, event(7, 'restored'), endedBy(8)])],
  ['idle', false, facts(over, [cameIn, endedBy(91 * 24, { why: 'expired' })])],
  ['ended-at-service', false, facts(over, [cameIn, endedBy(3, { why: 'refused' })])],
  [
    'ended-at-service',
    false,
    facts(over, [cameIn, endedBy(3)], { description: 'The password was changed.' }),
    'in its words',
  ],
  ['two-stores', false, facts(over, [cameIn, event(1, 'copied'), endedBy(6)])],
  ['two-stores', false, facts(over, [event(0, 'signed-in', { why: 'brought' }), endedBy(6)]), 'by an import'],
  ['copied-store', false, facts(over, [cameIn, endedBy(6, { host: 'server' })])],
  ['restored-backup', false, facts(over, [...former, event(21, 'refreshed'), endedBy(48, { why: 'expired' })])],
  [
    'restored-backup',
    false,
    facts(over, [...former, event(21, 'refreshed'), endedBy(48, { why: 'asked' })]),
    'by hand',
  ],
  ['spent-elsewhere', false, facts(over, [...former, event(21, 'refreshed'), endedBy(27)])],
  ['refreshed-tokens-refused', true, facts({ ...valid, refreshed_tokens_refused: 2 }, [cameIn, event(7, 'fell-back')])],
  ['firewall', true, facts(valid, [cameIn, event(7, 'failed', { code: 'FIREWALL_CHALLENGE' })])],
  ['client-rejected', true, facts(valid, [cameIn, event(7, 'failed', { code: 'invalid_client' })])],
  ['wrong-region', true, facts(valid, [cameIn, event(7, 'failed', { code: 'REGION_NOT_ALLOWED' })])],
  ['unreachable', true, facts(valid, [cameIn, event(7, 'failed', { code: 'UNREACHABLE' })])],
  ['unreachable', true, facts(doubtful, [cameIn, event(7, 'in-doubt', { code: 'HTTP_503', times: 3 })]), 'in doubt'],
  ['refresh-fails', true, facts(valid, [cameIn, event(7, 'failed', { code: 'HTTP_404' })])],
  // It may be known well, and not be allowed to refresh (RFC 6749 section 5.2).
  ['refresh-fails', true, facts(valid, [cameIn, event(7, 'failed', { code: 'unauthorized_client' })]), 'by its rights'],
  ['clocks', true, facts(valid, [cameIn, event(7, 'refused'), event(6.5, 'refreshed')])],
  ['signed-in', false, facts(valid, [cameIn])],
  ['signed-in', false, facts(valid, []), 'without a history'],
]

it.each(table)('%s, surely: %s', (cause, sure, given) => {
  const why = whyOf(given)
  expect(why).toMatchObject({ cause, sure })
  expect(why.or_else === undefined).toBe(sure)
  // One sentence, which stands under a node as well.
  expect(why.sentence).toMatch(/^[A-Z][^\n]{10,95}\.$/u)
  expect(why.to_do).toMatch(/\.$/u)
})

it('has a case for every cause', () => {
  // Both in the order of the rule.
  expect([...new Set(table.map(([cause]) => cause))]).toHaveLength(24)
})

it('takes what was cured for nothing', () => {
  const cured = [cameIn, event(7, 'failed', { code: 'UNREACHABLE' }), event(8, 'refreshed')]
  expect(whyOf(facts(valid, cured)).cause).toBe('signed-in')
  const answered = [cameIn, event(7, 'in-doubt', { code: 'TIMEOUT' }), event(8, 'replayed'), endedBy(14)]
  expect(whyOf(facts(over, answered)).cause).toBe('spent-elsewhere')
  const sameToken = [cameIn, event(7, 'refreshed', { times: 3, until: start + 90 * day }), endedBy(91 * 24)]
  expect(whyOf(facts(over, sameToken)).cause).not.toBe('idle')
})

it('takes no clock for wrong whose events are told later, or in two histories that were joined', () => {
  // A killed holder's request is told when it is asked for again: after the store was copied.
  const late = [cameIn, event(5, 'copied'), event(1, 'in-doubt', { code: 'no_word' }), event(6, 'replayed')]
  // For hours one store failed, while the one that was imported into it went on.
  const beside = [cameIn, event(1, 'failed', { times: 9, until: start + 9 * hour }), event(3, 'refreshed')]
  for (const events of [late, beside]) expect(whyOf(facts(valid, events)).cause).toBe('signed-in')
})

describe('what it rests on', () => {
  it('is what is told of the refresh token in question, and what is not told', () => {
    const events = [...former, event(21, 'refreshed'), endedBy(27)]
    const { rests_on } = whyOf(facts(over, events, { description: 'The refresh_token is expired.' }))
    expect(rests_on).toEqual([
      '2026-01-01 21:00 UTC: refreshed, by process 7 on nas, refresh token Zp3kX9aQ',
      '2026-01-02 03:00 UTC: ended (due, login_required), by process 7 on nas, refresh token Zp3kX9aQ',
      'As far as the record tells, nobody here had sent that token before.',
      'The service says “The refresh_token is expired.”.',
      'Nothing was written down before 2026-01-01 00:00 UTC.',
    ])
  })

  it('says that nobody had sent a token, or that no answer came, only where that is so', () => {
    const rejected = event(7, 'failed', { code: 'invalid_request', times: 4, until: start + 8 * hour })
    expect(whyOf(facts(over, [cameIn, rejected, endedBy(9, { code: 'invalid_request' })])).rests_on).toHaveLength(3)
    const answered = whyOf(facts(doubtful, [cameIn, event(7, 'in-doubt', { code: 'HTTP_200' })]))
    expect(answered.sentence).toBe('A refresh was sent, and its answer can’t be used (HTTP_200).')
  })

  it('says what is damaged, and what has given way, and that nothing was written only where that is so', () => {
    const notes = (events: readonly HistoryEvent[], unreadable = 0): readonly string[] =>
      whyOf(facts(valid, events, { unreadable })).rests_on.slice(1)
    const refreshed = event(7, 'refreshed')
    expect(notes([refreshed])).toEqual(['Nothing was written down before 2026-01-01 07:00 UTC.'])
    expect(notes([refreshed], 1)).toEqual(['1 event can’t be read, for damage.'])
    expect(notes([refreshed], 2)).toEqual(['2 events can’t be read, for damage.'])
    const others = Array.from({ length: 31 }, (_, at) => event(at / 8, 'refreshed', { token: `token-${at}` }))
    const long = others
      .slice(4)
      .map((other) => ({ ...other, host: 'a-name-of-a-machine', code: 'a-word-of-24-characters-' }))
    for (const full of [others, long])
      expect(notes([...full, refreshed])).toEqual([
        expect.stringMatching(/^Nothing is kept from before 2026-01-01 0\d/u),
      ])
  })

  it('is the two events of which a clock is told to be wrong', () => {
    const turned = [event(7, 'refused', { token: 'another' }), event(6.5, 'refreshed', { host: 'server' })]
    expect(whyOf(facts(valid, [cameIn, ...turned, event(14, 'refused')])).rests_on).toEqual([
      '2026-01-01 07:00 UTC: refused, by process 7 on nas, refresh token another',
      '2026-01-01 06:30 UTC: refreshed, by process 7 on server, refresh token Zp3kX9aQ',
    ])
  })

  it('is nothing before now, where a record has no history', async () => {
    const { world, tokens } = await signedIn()
    const { history: _, ...record } = { history: '', ...(await world.store.read(account))?.record }
    world.store.put(account, { version: 2, writeId: 'theirs', record: JSON.parse(JSON.stringify(record)) })
    const { events, why, status } = await world.process().history(account)
    expect({ events, cause: why.cause, state: status?.state }).toEqual({
      events: [],
      cause: 'signed-in',
      state: 'valid',
    })
    expect(why.rests_on).toEqual(['Nothing was written down before 2026-01-01 00:00 UTC.'])
    expect((await tokens.history('nobody@example.com')).why.cause).toBe('nothing-stored')
  })
})

it('names the store where that can’t be read, and throws nothing', async () => {
  const world = bench()
  world.store.down = true
  const answer = { status: undefined, events: [], why: { cause: 'store-unreadable', sure: true } }
  for (const name of [account, ' Owner@Example.com ']) {
    expect(await world.process().history(name)).toMatchObject(answer)
  }
  const read = (): Promise<never> => Promise.reject(new StoreError('wrong-key', 'Another key.'))
  const sealed = world.process({ store: { ...world.store, read } })
  expect((await sealed.history(account)).why.cause).toBe('store-key')
  await expect(sealed.history('')).rejects.toThrow(TypeError)
})
