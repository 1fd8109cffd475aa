/**
 * Why an account is as it is: the rule that names one cause, from its history and its status. A row for each cause; the first that
 * fits counts. A cause is sure only where the record, the store or the service itself says so: what others lead to as well has a
 * sentence for these (`or_else`).
 */
import type { ReauthenticationReason, StoreErrorReason } from '../errors.ts'
import { type HistoryEvent, noWord } from '../store/history.ts'
import { refusalAdvice } from './refusal-advice.ts'
import type { TokenStatus, Why } from './token-manager.ts'

/** The name of a cause. */
export type Cause =
  | 'store-key'
  | 'store-unreadable'
  | 'nothing-stored'
  | 'signed-out'
  | 'other-owner'
  | 'older-release'
  | 'refreshing'
  | 'answer-lost'
  | 'holder-gone'
  | 'store-set-back'
  | 'idle'
  | 'ended-at-service'
  | 'two-stores'
  | 'copied-store'
  | 'restored-backup'
  | 'spent-elsewhere'
  | 'refreshed-tokens-refused'
  | 'firewall'
  | 'client-refused'
  | 'wrong-region'
  | 'unreachable'
  | 'refresh-fails'
  | 'clocks'
  | 'signed-in'

/** What the rule goes by. Times are seconds since the epoch. */
export interface Facts {
  /** Why the store can't be read; then nothing else is known. */
  readonly store?: StoreErrorReason
  readonly status: TokenStatus
  readonly isStored: boolean
  readonly events: readonly HistoryEvent[]
  /** Of its history. */
  readonly unreadable: number
  /** Names the record's refresh token, as events do. */
  readonly token?: string | undefined
  /** The service's words at the end of the session. */
  readonly description?: string | undefined
  /** A refresh whose end is not told yet. */
  readonly underWay?: Pick<HistoryEvent, 'at' | 'pid' | 'host'> & { readonly isRestored: boolean }
  readonly now: number
}

/** The facts, and what the rows ask of them. */
interface Found extends Facts {
  /** What ended the session, and all before it; of these, what is about its refresh token, from where that came. */
  readonly ended: HistoryEvent | undefined
  readonly before: readonly HistoryEvent[]
  readonly of: readonly HistoryEvent[]
  /** The first request with the token whose answer did not come. */
  readonly lost: HistoryEvent | undefined
  /** What went wrong last, while nothing after it went well. */
  readonly failing: HistoryEvent | undefined
  readonly inDoubt: boolean
}

interface Row {
  readonly is: (found: Found) => boolean
  readonly sentence: string | ((found: Found) => string)
  readonly to_do: string
  /** What else may be the cause; nothing where this one is sure. */
  readonly or_else?: (found: Found) => string | undefined
}

const hour = 3600
const day = 24 * hour
/** Sessions end that nobody uses: after some 90 days, people report. */
const idleTime = 80 * day
/** Seconds that a refresh takes at the most: its request's time limit, and what its process may be held up. */
const longestRefresh = 90
/** Seconds by which clocks differ that nobody needs to look at. */
const sameTime = 300

const signIn = 'Sign in again.'
const goesOn = 'Nothing: it goes on by itself.'
const atService = 'Or the service ended the session: the password was changed, or somebody signed out there.'
const spentByOther = 'Or another program has used a copy of the refresh token.'

const isOver = ({ status }: Found): boolean => status.state === 'reauthentication-required'
const hasReason = (reason: ReauthenticationReason) => (found: Found) => isOver(found) && found.status.reason === reason
const fails =
  (code: RegExp) =>
  ({ failing }: Found): boolean =>
    failing !== undefined && code.test(failing.code ?? '')
const came = ({ what }: HistoryEvent): boolean => ['signed-in', 'refreshed', 'replayed'].includes(what)

const rows: Readonly<Record<Cause, Row>> = {
  'store-key': {
    is: ({ store }) => store === 'wrong-key',
    sentence: 'The record is sealed with another key than this process has.',
    to_do: 'Give every process the key that the record was sealed with (OWNER_SSO_ENCRYPTION_KEY).',
  },
  'store-unreadable': {
    is: ({ store }) => store !== undefined,
    sentence: ({ store }) => `The token store can’t be read (${store}).`,
    to_do: 'Look at the store: owner-sso doctor.',
  },
  'nothing-stored': {
    is: ({ isStored }) => !isStored,
    sentence: 'The store has nothing of this account: it was emptied, or nobody ever signed in here.',
    to_do: 'Look whether it is the right store, and what emptied it (FLUSHALL, a new volume). Then sign in.',
  },
  'signed-out': {
    is: ({ status }) => status.state === 'signed-out',
    sentence: ({ events }) => `It was signed out here${by(events.findLast(({ what }) => what === 'signed-out'))}.`,
    to_do: signIn,
  },
  'other-owner': {
    is: hasReason('other_owner'),
    sentence: 'The tokens that were saved for it belong to another owner.',
    to_do: 'Sign in as the owner of this account, or save the tokens under their owner’s name.',
  },
  'older-release': {
    is: (found) => isOver(found) && found.ended === undefined,
    sentence: 'A release that writes no history ended the session: nobody knows why.',
    to_do: 'Sign in again, and update that process.',
    or_else: ({ unreadable }) =>
      unreadable > 0 ? 'Or that is in the part of the history that is damaged.' : undefined,
  },
  refreshing: {
    is: ({ underWay, now }) => underWay?.isRestored === false && Math.abs(now - underWay.at) < longestRefresh,
    sentence: ({ underWay }) => `It is being refreshed now${by(underWay)}.`,
    to_do: goesOn,
  },
  'answer-lost': {
    is: (found) => found.lost?.code !== noWord && (isOver(found) ? found.lost !== undefined : isUnanswered(found)),
    sentence: ({ lost }) => `The answer to a refresh was lost on its way (${lost?.code ?? 'unknown'}).`,
    to_do: 'Sign in again if it says so; otherwise it is asked for once more, before the access token ends.',
    or_else: (found) => (isOver(found) ? atService : undefined),
  },
  'holder-gone': {
    is: (found) => (isOver(found) ? found.lost !== undefined : isHolderGone(found)),
    sentence: ({ lost, underWay }) => `A refresh was sent, and its process did not come back${by(lost ?? underWay)}.`,
    to_do: 'Look why that process ended or stands still. Sign in again if it says so.',
    or_else: (found) => (isOver(found) ? atService : 'Or that process is only held up.'),
  },
  'store-set-back': {
    is: ({ of, underWay, ended }) =>
      underWay?.isRestored === true || (ended !== undefined && of.some(({ what }) => what === 'restored')),
    sentence: 'The store had lost its newest record, and an older one was put back.',
    to_do: 'Look what set the store back: a failover, FLUSHALL, a backup. Sign in again if it says so.',
    or_else: (found) => (isOver(found) ? atService : undefined),
  },
  idle: {
    is: (found) => isOver(found) && ageAtEnd(found) >= idleTime,
    sentence: (found) => `It was not used for ${Math.floor(ageAtEnd(found) / day)} days, and the service forgot it.`,
    to_do: 'Sign in again. To keep accounts that nobody uses: owner-sso keep.',
    or_else: () => `${spentByOther} ${atService}`,
  },
  'ended-at-service': {
    is: ({ ended, description = '' }) =>
      ended?.why === 'refused' || (ended !== undefined && /password/iu.test(description)),
    sentence: 'The service ended the session: a changed password, or a sign-out there.',
    to_do: signIn,
    or_else: () => `${spentByOther} Some services end the whole session then.`,
  },
  'two-stores': {
    is: ({ ended, of }) => ended !== undefined && of.some(({ what, why }) => what === 'copied' || why === 'brought'),
    sentence: 'The store or program that these tokens came from has used them as well.',
    to_do: 'Let one of the two go on alone, and sign in again there.',
    or_else: () => atService,
  },
  'copied-store': {
    is: ({ ended, before }) =>
      ended?.host !== undefined &&
      before.length > 0 &&
      before.every(({ host }) => host !== undefined && host !== ended.host),
    sentence: ({ ended }) => `This is a copy of a store that goes on elsewhere: ${ended?.host} is new to it.`,
    to_do: 'Use one of the two stores, and sign in again there.',
    or_else: () => `${spentByOther} ${atService}`,
  },
  'restored-backup': {
    is: (found) => found.ended?.why === 'expired' && isGap(found),
    sentence: 'The record is older than it should be: a backup of the store was put back.',
    to_do: 'Sign in again. Leave the tokens out of what is restored.',
    or_else: () => `Or nobody called for so long. ${spentByOther} ${atService}`,
  },
  'spent-elsewhere': {
    is: isOver,
    sentence: 'Another program has used a copy of this refresh token.',
    to_do: 'Find who else has it: another client, a copy of this store. Sign in again, in one place alone.',
    or_else: () => atService,
  },
  'refreshed-tokens-refused': {
    is: ({ status }) => status.refreshed_tokens_refused !== undefined,
    sentence: ({ status }) => refusalAdvice(status) ?? '',
    to_do: 'Sign in again before its token ends: that of a sign-in works.',
  },
  firewall: {
    is: fails(/^FIREWALL_CHALLENGE$/u),
    sentence: 'The service’s firewall blocked its last refresh.',
    to_do: 'Wait: it is tried again by itself, and each request in between can prolong the block.',
  },
  'client-refused': {
    is: fails(/^(?:invalid|unauthorized)_client$/u),
    sentence: ({ failing }) => `The service refused this client (${failing?.code}): its id or its secret was changed.`,
    to_do: 'Correct the client’s id and secret in the settings. The tokens are as good as before.',
  },
  'wrong-region': {
    is: fails(/^REGION_NOT_ALLOWED$/u),
    sentence: 'Its tokens are of a region that the settings don’t allow.',
    to_do: 'If the region is genuine, allow it: OWNER_SSO_REGIONAL_AUTH_URLS. The tokens are as good as before.',
  },
  unreachable: {
    is: (found) => isDown(found),
    sentence: ({ failing }) => `At its last refresh the service could not be reached, or was down (${failing?.code}).`,
    to_do: 'Look at the network of this machine. It goes on by itself once the service answers.',
  },
  'refresh-fails': {
    is: ({ failing }) => failing !== undefined,
    sentence: ({ failing }) => `Its last refresh failed (${failing?.code ?? 'unknown'}).`,
    to_do: 'Look at the settings: owner-sso doctor.',
  },
  clocks: {
    is: ({ events }) => setBack(events) > sameTime,
    sentence: ({ events }) =>
      `It is signed in; a clock is or was wrong by ${Math.round(setBack(events) / 60)} minutes or more.`,
    to_do: 'Look at the clocks of the machines that its history names.',
  },
  'signed-in': {
    is: () => true,
    sentence: ({ status }) =>
      status.state === 'expired' ? 'It is signed in; the next call refreshes its token.' : 'It is signed in.',
    to_do: 'Nothing.',
    or_else: () => 'What the service has ended since, the next refresh finds out.',
  },
}

const causes = Object.keys(rows) as readonly Cause[]

/** The cause, from the facts alone. */
export function whyOf(facts: Facts): Why {
  const found = lookedThrough(facts)
  const cause = causes.find((name) => rows[name].is(found)) ?? 'signed-in'
  const { sentence, to_do, or_else } = rows[cause]
  const otherwise = or_else?.(found)
  return {
    cause,
    sentence: typeof sentence === 'string' ? sentence : sentence(found),
    rests_on: evidence(found),
    to_do,
    sure: otherwise === undefined,
    ...(otherwise !== undefined && { or_else: otherwise }),
  }
}

function lookedThrough(facts: Facts): Found {
  const { events, token, status } = facts
  const last = events.findLastIndex(({ what, token: its }) => what === 'ended' && its === token)
  const ended = status.state === 'reauthentication-required' ? events[last] : undefined
  const before = ended === undefined ? events : events.slice(0, last)
  const since = before.findLastIndex((event) => came(event) && event.token === token)
  const of = before.slice(Math.max(since, 0)).filter((event) => event.token === token)
  const outcome = events.findLast((event) => came(event) || event.what === 'failed' || event.what === 'in-doubt')
  return {
    ...facts,
    ended,
    before,
    of,
    lost: of.find(({ what }) => what === 'in-doubt'),
    failing: outcome === undefined || came(outcome) || outcome.token !== token ? undefined : outcome,
    inDoubt: status.state === 'in-doubt',
  }
}

const isDown = fails(/^(?:UNREACHABLE|TIMEOUT|HTTP_5\d\d)$/u)

/** A request is in doubt whose process has said that its answer did not come: one, of a service that is not down. */
function isUnanswered({ inDoubt, underWay, lost }: Found): boolean {
  return inDoubt && underWay === undefined && (lost?.times ?? 1) === 1 && !/^HTTP_5/u.test(lost?.code ?? '')
}

function isHolderGone({ lost, inDoubt, underWay, now }: Found): boolean {
  if (underWay?.isRestored === true) return false
  return (
    underWay !== undefined &&
    (inDoubt || now - underWay.at >= longestRefresh) &&
    (lost === undefined || lost.code === noWord)
  )
}

/** Seconds from when the refresh token came until it was refused. */
function ageAtEnd({ ended, of, status: { obtained_at = 0 } }: Found): number {
  return (ended?.at ?? 0) - (of.findLast(came)?.until ?? obtained_at)
}

/** Whether the token lay about for longer than its access token lives, and than any before it. */
function isGap(found: Found): boolean {
  const { before, status } = found
  const times = before.filter(came).map(({ until }) => until)
  const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0))
  const life = (status.expires_at ?? 0) - (status.obtained_at ?? 0)
  return pauses.length > 0 && ageAtEnd(found) > Math.max(life, 2 * Math.max(...pauses))
}

/** By how many seconds an event is told to be before the one that it follows. */
const setBack = (events: readonly HistoryEvent[]): number =>
  Math.max(0, ...events.slice(1).map(({ at }, index) => (events[index]?.until ?? 0) - at))

function by(event: Pick<HistoryEvent, 'pid' | 'host'> | undefined): string {
  if (event?.pid === undefined) return ''
  return `, by process ${event.pid}${event.host === undefined ? '' : ` on ${event.host}`}`
}

/** What it rests on: what is told of the refresh token in question, or else what happened last; and what is not told. */
function evidence({
  store,
  isStored,
  events,
  of,
  ended,
  unreadable,
  token,
  description,
  now,
}: Found): readonly string[] {
  if (store !== undefined || !isStored) return []
  const about = [...of, ...(ended === undefined ? [] : [ended])]
  const [first] = events
  const isNewer = token !== undefined && events.length > 0 && !events.some((event) => event.token === token)
  return [
    ...(about.length > 0 ? about : events).slice(-4).map(lineOf),
    ...(description === undefined ? [] : [`The service says “${description}”.`]),
    ...(first?.what === 'signed-in' ? [] : [`Nothing was written down before ${timeOf(first?.at ?? now)}.`]),
    ...(isNewer ? ['A release that writes no history has refreshed it since.'] : []),
    ...(unreadable > 0 ? [`${unreadable} events can’t be read: they are damaged, or of a newer release.`] : []),
  ]
}

/** An event as a line of text. */
function lineOf(event: HistoryEvent): string {
  const { what, why, code, at, times, until, token } = event
  const said = [why, code].filter((word) => word !== undefined).join(', ')
  const often = times === 1 ? '' : `, ${times} times until ${timeOf(until)}`
  const whose = token === undefined ? '' : `, refresh token ${token}`
  return `${timeOf(at)}: ${what}${said === '' ? '' : ` (${said})`}${often}${by(event)}${whose}`
}

const timeOf = (at: number): string => `${new Date(at * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`
