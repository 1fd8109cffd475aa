/**
 * How long what is handed out goes on living.
 */
import type { CurrentTokens } from '@owner-sso/core'
import { decodeJwt } from 'jose/jwt/decode'

/** Seconds that the access token has left: `expires_in` as it truly is. */
export function secondsLeft({ expires_at }: CurrentTokens): number {
  return Math.max(0, Math.floor(expires_at - Date.now() / 1000))
}

/** An id token that is not over; one that can't be read is not for us to judge. */
export function livingIdToken(idToken: string | undefined): string | undefined {
  if (idToken === undefined) return undefined
  try {
    const { exp = Infinity } = decodeJwt(idToken)
    return exp > Date.now() / 1000 ? idToken : undefined
  } catch {
    return idToken
  }
}
