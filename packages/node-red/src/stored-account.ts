/**
 * An account whose tokens are in a store of ours. Flows that are deployed again find the same token manager: a refresh under
 * way goes on.
 */
import { join } from 'node:path'
import {
  accountName,
  createSso,
  createTokenManager,
  rekey,
  type Sso,
  ssoOptionsFromEnvironment,
  type TokenManager,
  typedEmail,
} from '@owner-sso/core'
import { fileTokenStore } from '@owner-sso/token-store-file'
import { type AccountSettings, serviceNameOf, transportOf } from './account-settings.ts'
import type { Account } from './account-tokens.ts'
import type { NodeRed } from './node-red.ts'
import { sealingKeys, sharedKey } from './sealing-keys.ts'
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
  for (const event of ['refreshed', 'refreshed-token-refused', 'refresh-failed', 'in-doubt'] as const)
    tokens.on(event, () => listeners.forEach((listener) => listener()))
  tokens.on('reauthentication-required', () => listeners.forEach((listener) => listener()))
  // The older secret is gone after the next deploy. What this can't write is told by the status.
  if (keys.length > 1) rekey(store, fileTokenStore({ path, encryptionKey: keys[0] })).catch(() => undefined)
  const opened = { sso, tokens, listeners }
  services.set(place, opened)
  return opened
}
