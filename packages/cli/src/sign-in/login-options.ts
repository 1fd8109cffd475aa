/**
 * The options of `owner-sso login`.
 */
import { flag, type OptionsOf, value } from '../options/option.ts'

export const loginOptions = {
  credentialFile: value('<path>', 'read the password from a file (- is standard input)'),
  totpSecretFile: value('<path>', 'make passcodes from the secret in a file (base32, or an otpauth:// address)'),
  factor: value('<name>', 'which second factor the passcode is from, by its name or id'),
  browser: flag('sign in on the service’s own page, in a browser window that closes by itself'),
  paste: flag('sign in there in any browser, then paste the address that you end up on'),
}

export type LoginFlags = OptionsOf<typeof loginOptions>
