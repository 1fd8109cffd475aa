/**
 * The secret of a registered application, before a sign-in: a person may type it once, and the keyring keeps it.
 */
import { usageError } from '../failure/command-error.ts'
import { keepSecret, secretInKeyring } from '../keyring/client-secret.ts'
import { KeyringError } from '../keyring/keyring.ts'
import { checkedSecret } from '../settings/secrets.ts'
import type { Settings } from '../settings/settings.ts'
import { askSecret, canAsk } from '../terminal/prompts.ts'

/** @throws CommandError where there is none */
export async function haveClientSecret(settings: Settings): Promise<void> {
  const { clientId, clientSecretFile, keyring } = settings
  if (clientSecretFile !== undefined || clientId === undefined) return
  const problem = await secretInKeyring(clientId.value, keyring?.value).then(() => undefined, problemOf)
  if (!canAsk(settings) || keyring?.value === false) {
    if (problem === undefined) return
    throw noSecret(problem)
  }
  const question = `Client secret of ${clientId.value}${problem === undefined ? ' (empty: the one in the keyring)' : ''}`
  const typed = await askSecret(question, { optional: problem === undefined })
  if (typed === '') return
  await keepSecret(clientId.value, checkedSecret(typed, 'The client secret')).catch((error: unknown) => {
    throw noSecret(problemOf(error))
  })
}

/** @throws what is not about the keyring */
function problemOf(error: unknown): string {
  if (error instanceof TypeError || error instanceof KeyringError) return error.message
  throw error
}

const noSecret = (problem: string) =>
  usageError(
    `There is no client secret: ${problem}.`,
    'Put it into a file that only you can read, and name that in OWNER_SSO_CLIENT_SECRET_FILE.',
  )
