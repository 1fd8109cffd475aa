/**
 * An account whose tokens are in a store of ours. Flows that are deployed again find the same token manager: a refresh under
 * way goes on.
 */
import { hkdfSync } from 'node:crypto'
import { join } from 'node:path'
import {
  accountName,
  createSso,
  createTokenManager,
  rekey,
  type Sso,
  ssoOptionsFromEnvironment,
  StoreError,
  type TokenManager,
  typedEmail,
} from '@owner-sso/core'
import { fileTokenStore } from '@owner-sso/token-store-file'
import { type Account, type AccountSettings, serviceNameOf, transportOf } from './account-settings.ts'
import type { NodeRed } from './node-red.ts'
import { statusWords } from './status.ts'

/** One service and one store. */
interface Service {
  readonly sso: Sso
  readonly tokens: TokenManager
  readonly listeners: Set<() => void>
}

export interface StoredAccount extends Account {
  readonly sso: Sso
  /** Keeps the tokens of a sign-in. */
  save(tokens: Parameters<TokenManager['save']>[1]): Promise<void>
}

/** Events after which the status may be another. */
const changes = [
  'refreshed',
  'refreshed-token-refused',
  'refresh-failed',
  'in-doubt',
  'reauthentication-required',
] as const

const services = new Map<string, Service>()

/** @throws TypeError, StoreError */
export function storedAccount(RED: NodeRed, settings: AccountSettings): StoredAccount {
  if (settings.account === '') throw new TypeError('The account needs the e-mail that it is signed in with.')
  const name = accountName(typedEmail(settings.account))
  const { sso, tokens, listeners } = serviceOf(RED, settings)
  return {
    name,
    sso,
    tokens,
    signInUrl: undefined,
    status: async () => statusWords(await tokens.status(name), (await tokens.history(name)).why),
    async save(set) {
      await tokens.save(name, set)
      for (const listener of listeners) listener()
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    settled: () => tokens.settled(),
  }
}

function serviceOf(RED: NodeRed, settings: AccountSettings): Service {
  const { source, folder, encryptionKey, authUrl, transport } = settings
  if (source === 'folder' && folder === '') throw new TypeError('The shared folder needs a path.')
  const path = source === 'folder' ? folder : join(RED.settings.userDir ?? '.', 'owner-sso')
  const keys = source === 'folder' && encryptionKey !== '' ? [sharedKey(encryptionKey)] : sealingKeys(RED)
  const service = serviceNameOf(settings)
  const secrets = keys.map((key) => Buffer.from(key).toString('hex'))
  const place = JSON.stringify([path, secrets, authUrl, service, transport])
  const known = services.get(place)
  if (known !== undefined) return known

  const store = fileTokenStore({ path, encryptionKey: keys })
  // The application that the environment names is of accounts of its kind alone.
  const none = { clientId: undefined, clientSecret: undefined, audience: undefined, scope: undefined }
  const environment = { ...ssoOptionsFromEnvironment(), ...(service !== 'registered' && none) }
  const sso = createSso({ ...environment, authUrl, service, ...transportOf(settings) })
  const tokens = createTokenManager({ issuer: sso, store })
  const listeners = new Set<() => void>()
  for (const event of changes) tokens.on(event, () => listeners.forEach((listener) => listener()))
  // The older secret is gone after the next deploy. What this can't write is told by the status.
  if (keys.length > 1) rekey(store, fileTokenStore({ path, encryptionKey: keys[0] })).catch(() => undefined)
  const opened = { sso, tokens, listeners }
  services.set(place, opened)
  return opened
}

/**
 * What tokens are sealed with: Node-RED's credential secret, as its own file of credentials is. The newest first: until its next deploy, Node-RED keeps the secret that it had made itself beside one of the user's.
 *
 * @throws StoreError where there is none: nothing is kept unsealed
 */
function sealingKeys({ settings }: NodeRed): [Uint8Array, ...Uint8Array[]] {
  const secrets = ['credentialSecret', '_credentialSecret'].map((name) => settings.get(name))
  const [first, ...older] = secrets.flatMap((secret) =>
    typeof secret === 'string' && secret !== ''
      ? [new Uint8Array(hkdfSync('sha256', secret, '', 'owner-sso', 32))]
      : [],
  )
  if (first !== undefined) return [first, ...older]
  throw new StoreError(
    'unavailable',
    'Node-RED has no secret to seal tokens with: set credentialSecret in settings.js.',
  )
}

/** A key that other programs seal with too, as `OWNER_SSO_ENCRYPTION_KEY` has it. @throws TypeError */
function sharedKey(base64: string): Uint8Array {
  const key = Buffer.from(base64, 'base64')
  if (key.byteLength !== 32) throw new TypeError('The key must be 32 random bytes in base64: openssl rand -base64 32')
  return key
}
