/** The status page of a broker whose accounts are the emulator's, on a server of its own. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import {
  createSso,
  createTokenManager,
  type Sso,
  type TokenManager,
  type TokenManagerOptions,
  type TokenStore,
} from '@owner-sso/core'
import type { Emulator } from '@owner-sso/emulator'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import {
  type BrokerClients,
  brokerClients,
  type StatusPage,
  statusPage,
  statusPageCode,
  type StatusPageOptions,
} from '../src/index.ts'

export interface PageUnderTest {
  readonly url: string
  readonly sso: Sso
  readonly tokens: TokenManager
  readonly store: TokenStore
  readonly clients: BrokerClients
  readonly page: StatusPage
  readonly problems: unknown[]
  /** Requests that have arrived whole. */
  readonly arrived: () => number
  /** A new code for the entrance. */
  code(): Promise<string>
  close(): Promise<void>
}

export async function startPage(
  { authUrl, regionalAuthUrl }: Emulator,
  options: Partial<StatusPageOptions> = {},
  refresh?: TokenManagerOptions['refresh'],
): Promise<PageUnderTest> {
  const store = options.store ?? memoryTokenStore()
  const sso = createSso({ authUrl, regionalAuthUrls: [regionalAuthUrl] })
  const tokens = createTokenManager({ issuer: sso, store, minRefreshInterval: 0, refresh })
  const clients = brokerClients({ store })
  const problems: unknown[] = []
  const page = statusPage({ tokens, sso, clients, store, onProblem: (error) => problems.push(error), ...options })
  let arrived = 0
  const server = createServer((request, response) => {
    request.once('end', () => (arrived += 1))
    page.handler(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    sso,
    tokens,
    store,
    clients,
    page,
    problems,
    arrived: () => arrived,
    code: () => statusPageCode(store),
    close: async () => {
      page.close()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
