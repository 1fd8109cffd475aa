/**
 * What people are told of an account whose access token will not be followed by another: one sentence, wherever it is shown.
 */
import type { TokenStatus } from './token-status.ts'

/**
 * The sentence; nothing where there is nothing to tell, or where the owner has to sign in anyway.
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
