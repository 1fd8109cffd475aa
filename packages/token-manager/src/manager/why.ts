/**
 * Why an account is as it is: the rule that names one cause, from its events and its status. A row for each cause, and the first
 * that fits counts. A cause is sure only where the record, the store or the service itself says so; what others lead to as well
 * says which (`or_else`).
 */
import type { StoreErrorReason } from '../errors.ts'
import { eventsIn, fingerprintOf, type HistoryEvent, noWord } from '../store/history.ts'
import type { AccountRecord, Intent } from '../store/token-record.ts'
import type { Holder } from '../support/holder.ts'
import { type AccountHistory, type Cause, refusalAdvice, type TokenStatus } from './token-status.ts'

export interface Facts {
  /** Why the store can't be read; then nothing else is known. */
  readonly store?: StoreErrorReason
  readonly status: TokenStatus
  readonly record: AccountRecord | undefined
  readonly intent?: Intent | undefined
  /** Seconds since the epoch. */
  readonly now: number
}

type Found = ReturnType<typeof lookedThrough>

interface Row {
  readonly is: (found: Found) => boolean
  readonly says: string | ((found: Found) => string)
  /** By default: sign in again, where that helps; otherwise nothing. */
  readonly to_do?: string
  /** What else may be the cause; nothing where this one is sure. */
  readonly or_else?: string | ((found: Found) => string | undefined)
}

const day = 86_400
/** Sessions end that nobody uses: after some 90 days, people report. */
const idleTime = 80 * day
/** Seconds that a refresh takes at the most: its request's time limit, and what its process may be held up. */
const longestRefresh = 90
/** Seconds by which clocks differ that nobody needs to look at. */
const sameTime = 300

const atService = 'Or the service ended the session: the password was changed, or somebody signed out there.'
const spentByOther = 'Or another program has used a copy of the refresh token.'
const both = `${spentByOther} ${atService}`
const unlessAlive = ({ isOver }: Found): string | undefined => (isOver ? atService : undefined)

const fails =
  (code: RegExp) =>
  ({ failing }: Found): boolean =>
    failing !== undefined && code.test(failing.code ?? '')
const came = ({ what }: HistoryEvent): boolean => ['signed-in', 'refreshed', 'replayed'].includes(what)

const rows: Readonly<Record<Cause, Row>> = {
  'store-key': {
    is: ({ store }) => store === 'wrong-key',
    says: 'The record is sealed with another key than this process has.',
    to_do: 'Give every process the key that it was sealed with (OWNER_SSO_ENCRYPTION_KEY).',
  },
  'store-unreadable': {
    is: ({ store }) => store !== undefined,
    says: ({ store }) => `The token store can’t be read (${store}).`,
    to_do: 'Look at the store: owner-sso doctor.',
  },
  'nothing-stored': {
    is: ({ record }) => record === undefined,
    says: 'The store has nothing of this account: it was emptied, or nobody ever signed in here.',
    to_do: 'Look whether it is the right store, and what emptied it (FLUSHALL, a new volume). Then sign in.',
  },
  'signed-out': {
    is: ({ status }) => status.state === 'signed-out',
    says: ({ events }) => `It was signed out here${by(events.findLast(({ what }) => what === 'signed-out'))}.`,
  },
  'other-owner': {
    is: ({ isOver, status }) => isOver && status.reason === 'other_owner',
    says: 'The tokens that were saved for it belong to another owner.',
    to_do: 'Sign in as the owner of this account, or save the tokens under their owner’s name.',
  },
  'older-release': {
    is: ({ isOver, ended }) => isOver && ended === undefined,
    says: 'A release that writes no history ended the session: nobody knows why.',
    to_do: 'Sign in again, and update that process.',
    or_else: ({ unreadable }) => (unreadable > 0 ? 'Or that stands in what is damaged of its history.' : undefined),
  },
  refreshing: {
    is: ({ underWay, status, now }) =>
      status.state !== 'in-doubt' && underWay !== undefined && Math.abs(now - underWay.at) < longestRefresh,
    says: ({ underWay }) => `It is being refreshed now${by(underWay)}.`,
    or_else: 'Or that process has just ended.',
  },
  'answer-lost': {
    is: (found) => found.lost?.code !== noWord && (found.isOver ? found.lost !== undefined : isUnanswered(found)),
    says: ({ lost: { code = 'unknown' } = {} }) =>
      `A refresh was sent, and its answer ${code.startsWith('HTTP_') ? 'can’t be used' : 'did not come'} (${code}).`,
    to_do: 'Sign in again if it says so. Otherwise it is asked for once more; at once by owner-sso refresh.',
    or_else: unlessAlive,
  },
  'holder-gone': {
    is: (found) => (found.isOver ? found.lost !== undefined : isHolderGone(found)),
    says: ({ lost, underWay }) => `A refresh was sent, and its process did not come back${by(lost ?? underWay)}.`,
    to_do: 'Look why that process ended or stands still. Sign in again if it says so.',
    or_else: (found) => unlessAlive(found) ?? 'Or that process is only held up.',
  },
  'store-set-back': {
    is: ({ of, underWay, isOver }) =>
      underWay?.restored === true || (isOver && of.some(({ what }) => what === 'restored')),
    says: 'The store had lost its newest record, and an older one was put back.',
    to_do: 'Look what set the store back: a failover, FLUSHALL, a backup. Sign in again if it says so.',
    or_else: unlessAlive,
  },
  idle: {
    is: ({ isOver, age }) => isOver && age >= idleTime,
    says: ({ age }) => `It was not used for ${Math.floor(age / day)} days, and the service forgot it.`,
    to_do: 'Sign in again. To keep accounts that nobody uses: owner-sso keep.',
    or_else: both,
  },
  'ended-at-service': {
    is: (found) => found.isOver && (found.ended?.why === 'refused' || /password/iu.test(found.description ?? '')),
    says: 'The service ended the session: a changed password, or a sign-out there.',
    or_else: `${spentByOther} Some services end the whole session then.`,
  },
  'two-stores': {
    is: ({ isOver, of }) => isOver && of.some(({ what, why }) => what === 'copied' || why === 'brought'),
    says: 'The store or program that these tokens came from has used them as well.',
    to_do: 'Let one of the two go on alone, and sign in again there.',
    or_else: atService,
  },
  'copied-store': {
    is: ({ ended, before }) =>
      ended?.host !== undefined && before.length > 0 && before.every(({ host = ended.host }) => host !== ended.host),
    says: ({ ended }) => `This is a copy of a store that goes on elsewhere: ${ended?.host} is new to it.`,
    to_do: 'Use one of the two stores, and sign in again there.',
    or_else: both,
  },
  'restored-backup': {
    is: (found) => found.isOver && isGap(found),
    says: 'The record is older than it should be: a backup of the store was put back.',
    to_do: 'Sign in again. Leave the tokens out of what is restored.',
    or_else: `Or nobody called for so long. ${both}`,
  },
  'spent-elsewhere': {
    is: ({ isOver }) => isOver,
    says: 'Another program has used a copy of this refresh token.',
    to_do: 'Find who else has it: another client, a copy of this store. Sign in again, in one place alone.',
    or_else: `${atService} Or an older copy of the store was put back.`,
  },
  'refreshed-tokens-refused': {
    is: ({ status }) => status.refreshed_tokens_refused !== undefined,
    says: ({ status }) => refusalAdvice(status) ?? '',
    to_do: 'Sign in again before its token ends: that of a sign-in works.',
  },
  firewall: {
    is: fails(/^FIREWALL_CHALLENGE$/u),
    says: 'The service’s firewall blocked its last refresh.',
    to_do: 'Wait: it is tried again by itself, and each request in between can prolong the block.',
  },
  'client-rejected': {
    is: fails(/^invalid_client$/u),
    says: ({ failing }) =>
      `The service rejected this client (${failing?.code}): its id or its secret is not the right one.`,
    to_do: 'Correct the client’s id and secret in the settings. The tokens are as good as before.',
  },
  'wrong-region': {
    is: fails(/^REGION_NOT_ALLOWED$/u),
    says: 'Its tokens are of a region that the settings don’t allow.',
    to_do: 'If it is genuine, allow it: OWNER_SSO_REGIONAL_AUTH_URLS. The tokens are as good as before.',
  },
  unreachable: {
    is: fails(/^(?:UNREACHABLE|TIMEOUT|HTTP_5\d\d)$/u),
    says: ({ failing }) => `At its last refresh the service could not be reached, or was down (${failing?.code}).`,
    to_do: 'Look at the network of the machine that asked. It goes on by itself once the service answers.',
  },
  'refresh-fails': {
    is: ({ failing }) => failing !== undefined,
    says: ({ failing }) => `Its last refresh failed (${failing?.code ?? 'unknown'}).`,
    to_do: 'Look at the settings: owner-sso doctor.',
  },
  clocks: {
    is: ({ turned }) => secondsBack(turned) > sameTime,
    says: ({ turned }) =>
      `It is signed in; a clock is or was wrong by ${Math.round(secondsBack(turned) / 60)} minutes or more.`,
    to_do: 'Look at the clocks of the machines that its history names.',
  },
  'signed-in': {
    is: () => true,
    says: 'It is signed in.',
    or_else: 'What the service has ended since, the next refresh finds out.',
  },
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- these are its keys
const causes = Object.keys(rows) as readonly Cause[]

export function whyOf(facts: Facts): Pick<AccountHistory, 'events' | 'why'> {
  const found = lookedThrough(facts)
  const cause = causes.find((name) => rows[name].is(found)) ?? 'signed-in'
  const {
    says,
    or_else: or,
    to_do = needsSignIn(found) ? 'Sign in again.' : 'Nothing: it goes on by itself.',
  } = rows[cause]
  const or_else = typeof or === 'function' ? or(found) : or
  const sentence = typeof says === 'string' ? says : says(found)
  const why = { cause, sentence, rests_on: evidence(found, cause), to_do, sure: or_else === undefined }
  return { events: found.events, why: { ...why, ...(or_else !== undefined && { or_else }) } }
}

function lookedThrough(facts: Facts) {
  const { status, record, intent } = facts
  const { events, unreadable, isFull } = eventsIn(record?.history)
  const token = record === undefined || record.state === 'signed-out' ? undefined : fingerprintOf(record.lineage)
  const isOver = status.state === 'reauthentication-required'
  const last = isOver ? events.findLastIndex((event) => event.what === 'ended' && event.token === token) : -1
  const before = last < 0 ? events : events.slice(0, last)
  const since = before.findLastIndex((event) => came(event) && event.token === token)
  // What is about the refresh token, since it came.
  const of = before.slice(Math.max(since, 0)).filter((event) => event.token === token)
  const outcome = of.findLast((event) => came(event) || event.what === 'failed' || event.what === 'in-doubt')
  return {
    ...facts,
    events,
    unreadable,
    isFull,
    turned: turnedIn(events),
    token,
    isOver,
    /** What ended the session, and all before it. */
    ended: events[last],
    before,
    of,
    /** The first request with the token whose answer did not come. */
    lost: of.find(({ what }) => what === 'in-doubt'),
    /** What went wrong last, while nothing after it went well. */
    failing: outcome === undefined || came(outcome) ? undefined : outcome,
    /** Seconds from when the refresh token came until it was refused. */
    age: (events[last]?.at ?? 0) - (before[since]?.until ?? status.obtained_at ?? 0),
    /** Who holds the intent, while its end is not told. */
    underWay: intent === undefined || intent.answerLost ? undefined : { ...intent, ...intent.holder },
    description: record?.state === 'reauthentication-required' ? record.description : undefined,
  }
}

const needsSignIn = ({ isOver, status }: Found): boolean => isOver || status.state === 'signed-out'

/** A request is in doubt whose process has said that its answer did not come: one, of a service that is not down. */
function isUnanswered({ status, underWay, lost }: Found): boolean {
  const isAlone = (lost?.times ?? 1) === 1 && lost?.code?.startsWith('HTTP_5') !== true
  return status.state === 'in-doubt' && underWay === undefined && isAlone
}

function isHolderGone({ lost, status, underWay, now }: Found): boolean {
  if (underWay === undefined || underWay.restored || (lost !== undefined && lost.code !== noWord)) return false
  return status.state === 'in-doubt' || now - underWay.at >= longestRefresh
}

/** Whether the token lay about for longer than its access token lives, and than any before it. */
function isGap({ before, status, age }: Found): boolean {
  const times = before.filter(came).map(({ until }) => until)
  const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0))
  const life = (status.expires_at ?? 0) - (status.obtained_at ?? 0)
  return pauses.length > 0 && age > Math.max(life, 2 * Math.max(...pauses))
}

/**
 * Two events, one right after the other, whose times lie the wrong way round by the most. A request that nobody heard of again is
 * told later than it was made; and where two histories were joined, what was counted went on beside what follows it.
 */
function turnedIn(events: readonly HistoryEvent[]): readonly HistoryEvent[] {
  const told = events.filter(({ what }) => what !== 'in-doubt')
  const pairs = told.slice(1).map((_, index) => told.slice(index, index + 2))
  return pairs.toSorted((one, other) => secondsBack(other) - secondsBack(one))[0] ?? []
}

const secondsBack = ([before, after]: readonly HistoryEvent[]): number => (before?.at ?? 0) - (after?.at ?? 0)

/** What is told of the refresh token in question, or else what happened last; and what is not told. */
function evidence(found: Found, cause: Cause): readonly string[] {
  const { record, events, of, ended, failing, unreadable, isFull, token, description, turned, now } = found
  if (record === undefined) return []
  const about = cause === 'clocks' ? turned : [...of, ...(ended === undefined ? [] : [ended])]
  const isNewer = token !== undefined && events.length > 0 && !events.some((event) => event.token === token)
  const notes = [
    ended !== undefined &&
      failing === undefined &&
      'As far as the record tells, nobody here had sent that token before.',
    description !== undefined && `The service says “${description}”.`,
    events[0]?.what !== 'signed-in' &&
      unreadable === 0 &&
      `${isFull ? 'Nothing is kept from' : 'Nothing was written down'} before ${timeOf(events[0]?.at ?? now)}.`,
    isNewer && 'A release that writes no history has refreshed it since.',
    unreadable > 0 && `${unreadable === 1 ? '1 event' : `${unreadable} events`} can’t be read, for damage.`,
  ]
  return [...(about.length > 0 ? about : events).slice(-4).map(lineOf), ...notes.filter((note) => note !== false)]
}

function lineOf(event: HistoryEvent): string {
  const { what, why, code, at, times, until, token } = event
  const said = [why, code].filter((word) => word !== undefined).join(', ')
  const often = times === 1 ? '' : `, ${times} times until ${timeOf(until)}`
  const whose = token === undefined ? '' : `, refresh token ${token}`
  return `${timeOf(at)}: ${what}${said === '' ? '' : ` (${said})`}${often}${by(event)}${whose}`
}

function by({ pid, host = '' }: Partial<Pick<Holder, 'pid' | 'host'>> = {}): string {
  if (pid === undefined) return ''
  return `, by process ${pid}${host === '' ? '' : ` on ${host.replaceAll(/[^\w.-]/gu, '')}`}`
}

const timeOf = (at: number): string => `${new Date(at * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`
