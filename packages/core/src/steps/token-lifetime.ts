/**
 * When an access token ends: the one place where the document's two facts about it meet (interface document,
 * "Authentication" 6: eight hours, and an `expires_in` without a unit).
 */
import { documentedLifetime } from '@owner-sso/token-manager'

const oneYear = 366 * 24 * 60 * 60
/** Figures that may mean something else than seconds count as this at least, so that they cause two refreshes an hour at most. */
const leastOfGuess = 45 * 60

/** Seconds that two clocks may differ, or an answer may be on its way. */
const sameTime = 60

/** What the caller knows of the lifetime: seconds, `'expires_in'` to trust that field as seconds, or nothing. */
export type AccessTokenLifetime = number | 'expires_in' | undefined

/** Seconds since the epoch at which a token received at `now` ends. An implausible figure (zero, negative, years) counts as absent. */
export async function expiresAt(
  accessToken: string,
  expiresIn: unknown,
  lifetime: AccessTokenLifetime,
  now: number,
): Promise<number> {
  return Math.floor(now + Math.max(await lifeOf(accessToken, expiresIn, lifetime, now), 1))
}

/**
 * Seconds that the token lives. In this order: `exp - iat` of a JWT (RFC 7519 section 4.1), where no clock of ours matters;
 * the number that the user set; `exp` alone, by our clock; `expires_in`, where the user trusts it; eight hours. The first
 * two are believed as they are. The next two count as 45 minutes at least: a clock of ours that is wrong, or a field that
 * means something else, must not become a storm of refreshes.
 *
 * A JWT may have been issued a while ago, as one that a broker hands on. Then it lives only for the rest: `expires_in`, where
 * the user trusts it, or where it is what `exp` and our clock come to. Two that agree are not both wrong.
 */
async function lifeOf(
  accessToken: string,
  expiresIn: unknown,
  lifetime: AccessTokenLifetime,
  now: number,
): Promise<number> {
  const { exp = Number.NaN, iat = Number.NaN } = await claimsOf(accessToken)
  const seconds = Number(expiresIn)
  const trusted =
    lifetime === 'expires_in' && isPlausible(seconds) ? Math.max(seconds, leastOfGuess) : documentedLifetime
  if (isPlausible(exp - iat)) {
    const isOlder = isPlausible(seconds) && Math.abs(exp - now - seconds) <= sameTime
    const rest = isOlder ? seconds : lifetime === 'expires_in' ? trusted : Number.POSITIVE_INFINITY
    return Math.min(exp - iat, rest)
  }
  if (isPlausible(lifetime)) return lifetime
  if (isPlausible(exp - now)) return Math.max(exp - now, leastOfGuess)
  return trusted
}

const isPlausible = (seconds: unknown): seconds is number =>
  typeof seconds === 'number' && seconds > 0 && seconds <= oneYear

/** Of a JWT: dates of this century. Unverified: they only say when to ask for another token. */
async function claimsOf(token: string): Promise<{ exp?: number; iat?: number }> {
  if (token.split('.').length !== 3) return {}
  try {
    const { decodeJwt } = await import('jose/jwt/decode')
    const { exp, iat } = decodeJwt(token)
    return { ...(isDate(exp) && { exp }), ...(isDate(iat) && { iat }) }
  } catch {
    return {}
  }
}

const isDate = (claim: unknown): claim is number => typeof claim === 'number' && claim > Date.UTC(2000) / 1000
