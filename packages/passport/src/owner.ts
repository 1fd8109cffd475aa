/**
 * Who signed in: the user and the profile made of an account.
 */
import type { Profile } from 'passport'

/**
 * An owner whom the service has vouched for: the user that Passport gets where the application's verify function makes
 * none of its own.
 */
export interface OwnerSsoUser {
  /** What the token manager files the tokens under: the e-mail in lower case, or `sub:` and a subject. */
  readonly account: string
  /** As typed, or as the service spells it; absent where a browser sign-in proved a subject without an e-mail. */
  readonly email?: string
}

/** The owner in the shape that Passport's strategies share (its "Contact Schema"). */
export function profileOf(owner: OwnerSsoUser): Profile {
  return {
    provider: 'owner-sso',
    id: owner.account,
    displayName: owner.email ?? owner.account,
    ...(owner.email === undefined ? {} : { emails: [{ value: owner.email }] }),
  }
}
