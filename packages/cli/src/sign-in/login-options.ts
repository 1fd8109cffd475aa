/**
 * What every way to sign in takes: the options of `owner-sso login`, and whose sign-in it is.
 */
import { usageError } from '../failure/command-error.ts'
import { flag, type OptionsOf, value } from '../options/option.ts'
import type { Settings } from '../settings/settings.ts'
import { askEmail, canAsk } from '../terminal/prompts.ts'

export const loginOptions = {
  credentialFile: value('<path>', 'read the password from a file (- is standard input)'),
  totpSecretFile: value('<path>', 'make passcodes from the secret in a file (base32, or an otpauth:// address)'),
  factor: value('<name>', 'which second factor the passcode is from, by its name or id'),
  browser: flag('sign in on the service’s own page, in a browser window that closes by itself'),
  paste: flag('sign in there in any browser, then paste the address that you end up on'),
}

export type LoginFlags = OptionsOf<typeof loginOptions>

/** @throws CommandError where it is not said and nobody can be asked */
export async function identityOf(settings: Settings, before?: string): Promise<string> {
  if (settings.account !== undefined) return settings.account.value
  if (canAsk(settings)) return askEmail(before)
  throw usageError('No account was named.', 'Give --account E-MAIL, or set OWNER_SSO_ACCOUNT.')
}
