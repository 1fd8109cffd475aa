/**
 * E-mail and password of a sign-in: from the settings, a file or the environment, else from the person.
 */
import { type Credentials, emailFromText } from '@owner-sso/core'
import { usageError } from '../failure/command-error.ts'
import { askEmail, askSecret, canAsk } from '../terminal/prompts.ts'
import { orTell, secretFromFile, secretFromVariable } from '../settings/secrets.ts'
import type { Settings } from '../settings/settings.ts'

export interface CredentialSource {
  /**
   * @param before - the e-mail that was typed the time before
   * @throws CommandError where something is missing and nobody can be asked
   */
  next(before?: string): Promise<Credentials>
  /** Whether the next ones can differ: the password is typed. */
  readonly canCorrect: boolean
}

/** @param file - of the option `--credential-file` */
export function credentialSource(settings: Settings, file: string | undefined): CredentialSource {
  const given = file === undefined ? secretFromVariable('OWNER_SSO_CREDENTIAL') : undefined
  return {
    canCorrect: file === undefined && given === undefined && canAsk(settings),
    async next(before) {
      // A visible prompt would come where the person is about to type the password again: the e-mail is asked for only on demand.
      if (before !== undefined && settings.account === undefined) {
        const credential = await askSecret(`Password of ${before} (empty: another e-mail)`, { optional: true })
        if (credential !== '') return { identity: before, credential }
      }
      const account = await identityOf(settings, before)
      const from = settings.account?.from ?? 'The e-mail'
      const identity = orTell(`Correct ${from}.`, () => emailFromText(account, from))
      return { identity, credential: given ?? (await credentialOf(settings, file)) }
    },
  }
}

/** @throws CommandError where it is not said and nobody can be asked */
export async function identityOf(settings: Settings, before?: string): Promise<string> {
  if (settings.account !== undefined) return settings.account.value
  if (canAsk(settings)) return askEmail(before)
  throw usageError('No account was named.', 'Give --account E-MAIL, or set OWNER_SSO_ACCOUNT.')
}

async function credentialOf(settings: Settings, file: string | undefined): Promise<string> {
  // At a terminal, `-` would show what is typed.
  if (file !== undefined && !(file === '-' && canAsk(settings))) return secretFromFile(file, '--credential-file')
  if (canAsk(settings)) return askSecret('Password')
  throw usageError(
    'No password was given, and it can’t be asked for here.',
    'Give --credential-file PATH (- reads standard input), or set OWNER_SSO_CREDENTIAL.',
  )
}
