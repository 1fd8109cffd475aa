/**
 * Who signed in: the account's name, and the user and profile made of it.
 */
import type { Profile } from 'passport'

/**
 * An owner whom the service has vouched for: the user that Passport gets where the application's verify function makes
 * none of its own.
 */
export interface OwnerSsoUser {
  /** What the token manager files the tokens under. */
  readonly account: string
  /** As typed, or as the service spells it; absent where a browser sign-in proved a subject without an e-mail. */
  readonly email?: string
}

/**
 * The owner of an e-mail. Their account's name is the e-mail without surrounding spaces and with A–Z in lower case, so
 * that one person is one account.
 *
 * Only A–Z: full Unicode lower-casing folds other letters into ASCII (the Kelvin sign becomes `k`), and a look-alike
 * registered with the service would be handed somebody else's account here.
 */
export function ownerOfEmail(email: string): OwnerSsoUser {
  const trimmed = email.trim()
  return { account: trimmed.replaceAll(/[A-Z]/gu, (letter) => letter.toLowerCase()), email: trimmed }
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
