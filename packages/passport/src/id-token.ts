/**
 * Whose tokens these are, by the id_token that came with them.
 *
 * A browser sign-in proves that somebody signed in at the service, not who: what they typed here is a hint, and anybody
 * could type another's e-mail and paste a code of their own. The id_token says who. It is believed without a look at
 * its signature because it comes straight from the token endpoint, whose TLS certificate was checked: OpenID Connect
 * Core 1.0, section 3.1.3.7, rule 6. An id_token that came any other way must not be given to this function.
 */
import { type TokenSet, UnexpectedResponseError } from '@owner-sso/core'
import { decodeJwt } from 'jose/jwt/decode'
import { type OwnerSsoUser, ownerOfEmail } from './owner.ts'

/** `client_id` of the interface document, and so the audience (section 3.1.3.7, rule 3). */
const audience = 'ownerapi'

/**
 * The owner that an id_token of the token endpoint names: by `email`, else by `sub`.
 *
 * @throws UnexpectedResponseError where there is none, or it is unreadable, for another client, over, or names nobody.
 */
export function ownerOfTokens(tokens: TokenSet): OwnerSsoUser {
  const claims = claimsOf(tokens.id_token)
  if (![claims.aud].flat().includes(audience)) throw unusable('was made for another client')
  if (typeof claims.exp !== 'number' || claims.exp * 1000 <= Date.now()) throw unusable('is over')
  const { email, email_verified: emailVerified, sub } = claims
  if (isName(email) && emailVerified !== false) return ownerOfEmail(email)
  if (isName(sub)) return { account: sub }
  throw unusable('names nobody')
}

function claimsOf(idToken: string | undefined): ReturnType<typeof decodeJwt> {
  if (idToken === undefined) throw unusable('is missing')
  try {
    return decodeJwt(idToken)
  } catch {
    throw unusable('can’t be read')
  }
}

function isName(claim: unknown): claim is string {
  return typeof claim === 'string' && claim.trim() !== '' && claim.length <= 320
}

function unusable(problem: string): UnexpectedResponseError {
  return new UnexpectedResponseError(`its id_token ${problem}, so nobody knows whose tokens these are`, {
    step: 'refresh',
  })
}
