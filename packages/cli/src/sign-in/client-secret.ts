/**
 * The secret of a registered application, before a sign-in: a person may type it once, and the keyring keeps it.
 */
import { usageError } from '../failure/command-error.ts'
import { keepSecret, secretInKeyring } from '../keyring/client-secret.ts'
import { checkedSecret } from '../settings/secrets.ts'
import type { Settings } from '../settings/settings.ts'
import { askSecret, canAsk } from '../terminal/prompts.ts'

/** @throws CommandError where there is none */
export async function haveClientSecret(settings: Settings): Promise<void> {
  const { clientId, clientSecretFile, keyring } = settings
  if (clientSecretFile !== undefined || clientId === undefined) return
  let problem = await problemOf(secretInKeyring(clientId.value, keyring?.value))
  if (canAsk(settings) && keyring?.value !== false) {
    const question = `Client secret of ${clientId.value}${problem === '' ? ' (empty: the one in the keyring)' : ''}`
    const typed = await askSecret(question, { optional: problem === '' })
    if (typed === '') return
    problem = await problemOf(keepSecret(clientId.value, checkedSecret(typed, 'The client secret')))
  }
  if (problem === '') return
  const next = 'Put it into a file that only you can read, and name that in OWNER_SSO_CLIENT_SECRET_FILE.'
  throw usageError(`There is no client secret: ${problem}.`, next)
}

function problemOf(use: Promise<unknown>): Promise<string> {
  return use.then(() => '').catch(({ message }: Error) => message)
}
