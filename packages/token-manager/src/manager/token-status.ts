/**
 * What is known of an account's tokens, and what happened to them: the shapes that people and programs are shown.
 */
import type { ReauthenticationReason } from '../errors.ts'
import type { HistoryEvent } from '../store/history.ts'

/** What is known of an account's tokens; never a token. Times are seconds since the epoch. */
export interface TokenStatus {
  readonly state: 'valid' | 'expired' | 'signed-out' | 'in-doubt' | 'reauthentication-required'
  /** When the access token ends, as far as is known (`assumedLifetime`); absent without an access token. */
  readonly expires_at?: number
  /** When it was asked for; at a sign-in, when it was saved. */
  readonly obtained_at?: number
  /** The instance that issued it. */
  readonly auth_url?: string
  /** Why the owner has to sign in again. */
  readonly reason?: ReauthenticationReason
  /** When a refresh in doubt may be replayed. */
  readonly next_attempt_at?: number
  /** When the access token came of a refresh; absent for that of the sign-in, and for one that is current again. */
  readonly refreshed_at?: number
  /**
   * The owner API refuses access tokens that come of a refresh: so many in a row. Sign in again before `expires_at`. Absent while
   * it accepts them, and after a first one that no other token had to give way to.
   */
  readonly refreshed_tokens_refused?: number
  /** Whether the owner API refused the current access token, and no other one is left. */
  readonly refused?: boolean
  /**
   * This process leaves refreshes to others, one is due, and nobody has refreshed since then. When somebody will is not known:
   * `next_attempt_at` is absent.
   */
  readonly not_refreshed_since?: number
  /** When the background refresh is due: by `refreshAfter`, with the account's own place in its span. */
  readonly refresh_due_at?: number
}

/** What happened to an account, and why it is as it is now; never a token. */
export interface AccountHistory {
  /** Absent where the store can't be read. */
  readonly status: TokenStatus | undefined
  /** The last 32, the oldest first. */
  readonly events: readonly HistoryEvent[]
  readonly why: Why
}

/** Why an account is as it is: in particular, why its owner has to sign in again. */
export interface Why {
  readonly cause: Cause
  /** The cause in one sentence. */
  readonly sentence: string
  /** A line for each fact that it rests on, with times in UTC. */
  readonly rests_on: readonly string[]
  /** What to do about it. */
  readonly to_do: string
  /** The record, the store or the service itself says so. */
  readonly sure: boolean
  /** Otherwise: what else it may be. */
  readonly or_else?: string
}

type OfStore = 'store-key' | 'store-unreadable' | 'nothing-stored' | 'store-set-back'
type OfEnd =
  | 'signed-out'
  | 'other-owner'
  | 'older-release'
  | 'answer-lost'
  | 'holder-gone'
  | 'idle'
  | 'ended-at-service'
type OfCopy = 'two-stores' | 'copied-store' | 'restored-backup' | 'spent-elsewhere'
type OfRefresh = 'refreshing' | 'firewall' | 'client-rejected' | 'wrong-region' | 'unreachable' | 'refresh-fails'
/** The name of a cause. */
export type Cause = OfStore | OfEnd | OfCopy | OfRefresh | 'refreshed-tokens-refused' | 'clocks' | 'signed-in'

/**
 * What people are told of an account whose access token will not be followed by another: one sentence, wherever it is shown; nothing
 * where there is nothing to tell, or where the owner has to sign in anyway.
 *
 * @param time - writes a time of day, from seconds since the epoch. Default: as `14:10 UTC`
 */
export function refusalAdvice(
  { state, expires_at = 0, refused: isRefused = false, refreshed_tokens_refused }: TokenStatus,
  time: (at: number) => string = utc,
): string | undefined {
  const isLost = state === 'signed-out' || state === 'reauthentication-required'
  if (refreshed_tokens_refused === undefined || isLost) return undefined
  const works = state !== 'expired' && !isRefused && expires_at > Date.now() / 1000
  const refused = 'Refreshed tokens are refused by the owner API'
  return works ? `${refused}. Works until ${time(expires_at)}; sign in again before.` : `${refused}; sign in again.`
}

/**
 * What is told where refreshes are left to others, and nobody makes one; else nothing.
 *
 * @param time - as above; also of a day before
 */
export function overdueAdvice(
  { expires_at = 0, refused = false, not_refreshed_since: since }: TokenStatus,
  time: (at: number) => string = withDay,
): string | undefined {
  if (since === undefined) return undefined
  const works = !refused && expires_at > Date.now() / 1000 ? ` Works until ${time(expires_at)}.` : ''
  return `Nobody has refreshed since ${time(since)}.${works} Look at the process that refreshes.`
}

const utc = (at: number): string => `${new Date(at * 1000).toISOString().slice(11, 16)} UTC`

/** With its day in front where that is long ago. */
const withDay = (at: number): string =>
  Date.now() / 1000 - at < 43_200 ? utc(at) : `${new Date(at * 1000).toISOString().slice(0, 10)} ${utc(at)}`
