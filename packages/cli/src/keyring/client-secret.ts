/**
 * The secret of a registered application in the keyring, for machines where that is safer than a file.
 */
import { KeyringError, readKey, storeKey } from './keyring.ts'

const entryOf = (clientId: string): string => `client secret of ${clientId}`

/**
 * @param mayUse - whether the keyring may be used
 * @throws TypeError where there is none: what to do about it
 */
export async function secretInKeyring(clientId: string, mayUse = true): Promise<string> {
  let problem = mayUse ? 'the keyring has none' : 'the keyring is turned off'
  try {
    const secret = mayUse ? await readKey(entryOf(clientId)) : undefined
    if (secret !== undefined) return Buffer.from(secret).toString()
  } catch (error) {
    if (!(error instanceof KeyringError)) throw error
    problem = error.message
  }
  throw new TypeError(`${problem}: name a file in OWNER_SSO_CLIENT_SECRET_FILE, or run owner-sso login in a terminal`)
}

export const keepSecret = (clientId: string, secret: string): Promise<void> =>
  storeKey(entryOf(clientId), Buffer.from(secret))
