/**
 * A broker for the tests: the emulated service, a token manager that is signed in there, clients in the same store, and a server.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSso, createTokenManager, type TokenManager, type TokenStore } from '@owner-sso/core'
import { type Emulator, startEmulator } from '@owner-sso/emulator'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import {
  type AuditEntry,
  brokerClients,
  type BrokerClients,
  type BrokerServer,
  type Invitation,
  type ListenOptions,
  type TokenBroker,
  tokenBroker,
  type TokenBrokerOptions,
} from '../src/index.ts'

export const account = 'plain@example.com'

export interface Home extends AsyncDisposable {
  readonly emulator: Emulator
  readonly tokens: TokenManager
  readonly clients: BrokerClients
  readonly broker: TokenBroker
  readonly server: BrokerServer
  readonly url: string
  readonly folder: string
  readonly audit: readonly AuditEntry[]
  /** What was told of accounts, such as `needed plain@example.com signed-out`. */
  readonly told: readonly string[]
  /** Invites a client, and returns its secret. */
  invite(name: string, invitation?: Partial<Invitation>): Promise<string>
  /** Asks for tokens as a client of the service does. */
  refresh(refreshToken: string, more?: RequestInit): Promise<Response>
  /** `GET /token` with a key. */
  token(key: string, search?: string, headers?: Readonly<Record<string, string>>): Promise<Response>
}

export interface HomeOptions extends Partial<Omit<TokenBrokerOptions, 'proxy'>> {
  readonly where?: (folder: string) => ListenOptions
  readonly store?: TokenStore
  readonly withProxy?: boolean
}

export async function startHome(options: HomeOptions = {}): Promise<Home> {
  const { where, withProxy, store = memoryTokenStore(), ...brokerOptions } = options
  const folder = await mkdtemp(join(tmpdir(), 'owner-sso-broker-'))
  const emulator = await startEmulator()
  const tokens = options.tokens === undefined ? await signedIn(emulator, store) : undefined
  const clients = options.clients ?? brokerClients({ store })
  const audit: AuditEntry[] = []
  const told: string[] = []
  const broker = tokenBroker({
    tokens: tokens!,
    clients,
    audit: (entry) => audit.push(entry),
    alerts: {
      signInNeeded: (name, reason) => told.push(`needed ${name} ${reason}`),
      works: (name) => told.push(`works ${name}`),
    },
    ...(withProxy && { proxy: { target: emulator.ownerApiUrl } }),
    ...brokerOptions,
  })
  const server = await broker.listen(where?.(folder) ?? { port: 0 })
  const { url } = server
  return {
    emulator,
    tokens: tokens!,
    clients,
    broker,
    server,
    url,
    folder,
    audit,
    told,
    invite: async (name, invitation = {}) =>
      (await clients.invite({ name, accounts: [account], ...invitation })).refresh_token,
    refresh: (refreshToken, more) => refreshAt(url, refreshToken, more),
    token: (key, search = '', headers = {}) =>
      fetch(`${url}/token${search}`, { headers: { authorization: `Bearer ${key}`, ...headers } }),
    async [Symbol.asyncDispose]() {
      await broker.close()
      await server.close()
      await emulator.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** A token manager with the demo account signed in. */
export async function signedIn(emulator: Emulator, store: TokenStore): Promise<TokenManager> {
  const sso = createSso({ authUrl: emulator.authUrl, regionalAuthUrls: [emulator.regionalAuthUrl] })
  const tokens = createTokenManager({ issuer: sso, store, minRefreshInterval: 0 })
  await tokens.save(account, await sso.login({ identity: account, credential: 'correct horse' }))
  return tokens
}

/** Endpoint 6 as documented. */
export function refreshAt(url: string, refresh_token: string, more: RequestInit = {}): Promise<Response> {
  const scope = 'openid email offline_access'
  const body = JSON.stringify({ grant_type: 'refresh_token', client_id: 'ownerapi', refresh_token, scope })
  const headers = { 'content-type': 'application/json' }
  return fetch(`${url}/oauth2/v3/token`, { method: 'POST', headers, body, ...more })
}

/** A token response. */
export interface TokenResponse {
  readonly access_token: string
  readonly refresh_token: string
  readonly expires_in: number
  readonly id_token?: string
}

export async function tokensIn(answer: Response): Promise<TokenResponse> {
  return JSON.parse(await answer.text())
}
