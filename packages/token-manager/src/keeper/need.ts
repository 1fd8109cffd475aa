/**
 * The need of an account: when its session ends if nobody calls, as far as anybody can know.
 */
import { expectsRefusal } from '../kernel/freshness.ts'
import type { ExpiryOf } from '../issuer/jwt-expiry.ts'
import type { SignedIn } from '../store/token-record.ts'
import type { KeeperSettings } from './keeper-options.ts'

/** An account that is due. */
export interface Need {
  readonly account: string
  /** When its session ends: milliseconds since the epoch. */
  readonly end: number
  /** The instance that refreshes it. */
  readonly authUrl: string
}

/** Milliseconds that the clocks of a fleet may differ by. Tokens from further in the future say nothing of their age. */
const clockSkew = 5 * 60_000

/**
 * Milliseconds that a refresh token lives where nothing better is known: 90 days, as clients of the service report. Counted on only
 * where a refresh costs a working access token.
 */
const reportedLifetime = 90 * 86_400_000

/**
 * The need of an account that is due: its session ends within `within`, and its tokens are not so young that new ones
 * would change nothing.
 *
 * @param now - milliseconds since the epoch
 */
export function needOf(
  account: string,
  record: SignedIn,
  { within, refreshTokenLifetime }: Pick<KeeperSettings, 'within' | 'refreshTokenLifetime'>,
  expiryOf: ExpiryOf,
  now: number,
): Need | undefined {
  const { auth_url: authUrl, refresh_token, refresh_token_expires_at: toldEnd } = record.tokens
  const obtained = record.obtained_at * 1000
  const life = record.lifetime * 1000
  // By a clock that was ahead, or ours has gone back: how old they are nobody knows, and new ones end the question.
  if (obtained > now + clockSkew) return { account, end: now + within, authUrl }
  // While the owner API refuses refreshed tokens, a refresh does no good but to keep the refresh token alive.
  const known = refreshTokenLifetime ?? (expectsRefusal(record) ? reportedLifetime : life)
  const issued = record.refusals?.refreshed_at === undefined ? obtained : record.refusals.refreshed_at * 1000
  const told = typeof toldEnd === 'number' ? toldEnd * 1000 : expiryOf(refresh_token)
  // One that is refused ends at once: whoever met that may have left the refresh to others.
  const end = record.refusals?.thisOne === true ? now : (told ?? issued + known)
  if (end - now > within || now - obtained < Math.min(life, within) / 2) return undefined
  return { account, end, authUrl }
}
