/**
 * When an access token ends: the one place where the document's two facts about it meet (interface document,
 * "Authentication" 6: eight hours, and an `expires_in` without a unit).
 */
import { decodeJwt } from 'jose/jwt/decode'

const eightHours = 8 * 60 * 60
const oneYear = 366 * 24 * 60 * 60

/** What the caller knows of the lifetime: seconds, `'expires_in'` to trust that field as seconds, or nothing. */
export type AccessTokenLifetime = number | 'expires_in' | undefined

/**
 * Seconds since the epoch at which a token received at `now` ends: its own `exp` if it is a JWT (RFC 7519 section 4.1.4),
 * else the option `accessTokenLifetime`, else eight hours. An implausible figure (zero, negative, years ahead) counts as absent.
 */
export function expiresAt(accessToken: string, expiresIn: unknown, lifetime: AccessTokenLifetime, now: number): number {
  const ownExpiry = expiryOfJwt(accessToken)
  if (ownExpiry !== undefined && ownExpiry <= now + oneYear) return ownExpiry
  const seconds = lifetime === 'expires_in' ? Number(expiresIn) : lifetime
  const plausible = seconds !== undefined && seconds > 0 && seconds <= oneYear
  return Math.floor(now + (plausible ? seconds : eightHours))
}

/** `exp` of a JWT, where it is a date of this century. Unverified: it only says when to ask for another token. */
function expiryOfJwt(token: string): number | undefined {
  try {
    const { exp } = decodeJwt(token)
    return typeof exp === 'number' && exp > Date.UTC(2000) / 1000 ? Math.floor(exp) : undefined
  } catch {
    return undefined
  }
}
