/**
 * Who asks the service, as it knows it: the client that the interface document prescribes, or an application that was registered at
 * the official kind of service, with a secret.
 */
import { readFileSync } from 'node:fs'
import { type SsoStep, UnreachableError } from '@owner-sso/token-manager'
import { secretFromText, textFromUtf8 } from '../support/setting-text.ts'
import { clientIn, otherClient, systemCode, withClient, withoutClient } from '@owner-sso/token-manager/support'

export interface Client {
  readonly id: string
  readonly scope: string
  /** Of a registered application alone. */
  readonly application?: { readonly audience: string; readonly secret: ClientSecret }
}

/** A function is asked for each request, so that another secret is taken at once. */
export type ClientSecret = string | (() => string | Promise<string>)

/** Those of `createSso`. Where it asks and is sent back to is a registered application's own as well. */
type ClientOptions = Partial<Record<'service' | 'clientId' | 'audience' | 'scope', string | undefined>> &
  Partial<Record<'tokenUrl' | 'redirectUri', unknown> & Record<'clientSecret', ClientSecret | undefined>>

const documentClient: Client = { id: 'ownerapi', scope: 'openid email offline_access' }

/** What strangers' applications ask for (`docs/internals/decisions.md`). */
const usualScope = 'openid offline_access user_data vehicle_device_data vehicle_cmds vehicle_charging_cmds'

const own = ['clientId', 'clientSecret', 'audience', 'scope'] as const
const required = ['clientId', 'clientSecret', 'audience', 'tokenUrl', 'redirectUri'] as const

/** @throws TypeError that names the option, and never shows the secret */
export function clientOf(options: ClientOptions): Client {
  const { service, clientId: id = '', clientSecret: secret = '', audience = '', scope = usualScope } = options
  if (service !== 'registered') {
    const stray = own.find((name) => options[name] !== undefined)
    if (stray === undefined) return documentClient
    throw new TypeError(`${stray} is a registered application's: set service to 'registered' as well`)
  }
  const missing = required.filter((name) => options[name] === undefined)
  if (missing.length > 0) throw new TypeError(`service 'registered' also needs ${missing.join(', ')}`)
  if (typeof secret === 'string') checked(secret, 'clientSecret')
  return { id, scope, application: { audience, secret } }
}

/** What token sets of this client carry as `auth_url`: the document's has no mark, since it is everybody's. */
export function markedBy({ id, application }: Client, authUrl: string): string {
  return application === undefined ? authUrl : withClient(authUrl, id)
}

/** @throws StoreError where the tokens are another client's: to send them could end its session */
export function requireOwn(client: Client, authUrl: string): void {
  if (markedBy(client, withoutClient(authUrl)) === authUrl) return
  throw otherClient(clientIn(authUrl) ?? documentClient.id, client.id)
}

function checked(text: string, where: string): string {
  const secret = secretFromText(text, where)
  if (secret === '') throw new TypeError(`${where} holds no secret`)
  return secret
}

/** For one request. @throws UnreachableError where there is no secret: a TypeError would count as sent */
export async function clientSecretOf(secret: ClientSecret, step: SsoStep): Promise<string> {
  try {
    return checked(typeof secret === 'string' ? secret : await secret(), 'clientSecret')
  } catch (error) {
    const problem = error instanceof TypeError ? error.message : (systemCode(error) ?? 'clientSecret failed')
    const message = `There is no client secret to send (${problem}). Nothing was sent.`
    throw new UnreachableError(message, { step, requestSent: false })
  }
}

/**
 * The option `clientSecret` out of a file, read anew for each request: a secret that is changed there needs no restart.
 *
 * @param where - what named the file, for the errors, which show neither its path nor what is in it
 * @throws TypeError where there is no secret now; the function does later
 * @example
 * createSso({ ...options, service: 'registered', clientSecret: clientSecretIn('/run/secrets/client', 'the setting') })
 */
export function clientSecretIn(path: string, where: string): () => string {
  const read = (): string => {
    try {
      return checked(textFromUtf8(readFileSync(path), where), where)
    } catch (error) {
      throw withoutPath(error, where)
    }
  }
  read()
  return read
}

/** The system's error names the path, which may be the secret itself, set in place of it. */
function withoutPath(error: unknown, where: string): unknown {
  const code = systemCode(error)
  if (code === undefined) return error
  return new TypeError(`${where} must be the path of a file with the client secret, which can be read (${code})`)
}
