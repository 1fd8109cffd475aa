/**
 * The gateway as an HTTP server: three pages for operators, and the owner API for clients with a key.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { TokenManager, TokenStore, TransportOption } from '@owner-sso/core'
import type { BrokerClients } from '@owner-sso/broker'
import { ownerApiProxy } from '@owner-sso/express'
import { drainOf, hasPlainFraming, originForm } from '@owner-sso/express/support'
import { admission } from './admission.ts'
import { type Rejection, sendJson, sendRejection, sendText } from './own-responses.ts'
import { described, type Log } from './log.ts'
import { createMetrics } from './metrics.ts'
import { type Readiness, readinessOf } from './readiness.ts'

export interface GatewayOptions {
  readonly tokens: TokenManager
  readonly store: TokenStore
  readonly clients: BrokerClients
  /** The owner API. */
  readonly apiUrl: string
  /** How it is spoken to. */
  readonly transport?: TransportOption | undefined
  /** Base addresses that tokens are refreshed at. */
  readonly refreshHosts: readonly string[]
  /** Gets what an answer leaves out: paths, hosts and system codes are for the operator. Default: nobody. */
  readonly log?: Log
}

export interface Gateway {
  /** Not listening yet. */
  readonly server: Server
  /** Takes no new connections, and resolves when every call on those that there are has its whole answer. */
  readonly drain: () => Promise<void>
  /** Cuts what is still under way. */
  readonly cut: () => Promise<void>
}

interface Admitted extends IncomingMessage {
  readonly account?: string
}

/** Longer than the load balancer in front keeps an idle connection, so that it is never the one to find it closed. */
const keepAliveTimeout = 75_000

/** On bare `node:http`: a framework would cost more than all of the rest. */
export function createGateway({
  tokens,
  store,
  clients,
  apiUrl,
  transport,
  refreshHosts,
  log,
}: GatewayOptions): Gateway {
  const proxy = ownerApiProxy<Admitted>({
    target: apiUrl,
    transport,
    tokens,
    account: ({ account }) => account,
    authorize: ({ account }) => account !== undefined,
    onProblem: (error, { code }, { account }) => log?.('call-failed', { answered: code, account, ...described(error) }),
  })
  let asked: Promise<Readiness> | undefined
  // Whoever asks while the store is being asked gets the same answer.
  const readiness = (): Promise<Readiness> =>
    (asked ??= readinessOf(store, refreshHosts).finally(() => {
      asked = undefined
    }))
  const metrics = createMetrics({ tokens, active: proxy.active, readiness })
  let isClosing = false

  const call = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    // Rejected at once by the proxy: the parser goes on with what follows in this very turn.
    if (!hasPlainFraming(request)) return proxy(request, response)
    const admitted = await admission(request, clients).catch((error: unknown) => {
      log?.('clients-unread', { ...described(error) })
      return { rejection: clientsUnread }
    })
    if ('rejection' in admitted) return sendRejection(response, admitted.rejection)
    metrics.observeCall(response)
    proxy(Object.assign(request, admitted), response)
  }

  const pages = new Map<string, (response: ServerResponse) => Promise<void> | void>([
    ['/healthz', (response) => sendJson(response, 200, { alive: true })],
    [
      '/readyz',
      async (response) => {
        const state = await readiness()
        const ready = state.ready && !isClosing
        sendJson(response, ready ? 200 : 503, { ...state, ready, closing: isClosing })
      },
    ],
    ['/metrics', async (response) => sendText(response, 200, metrics.contentType, await metrics.text())],
  ])

  const server = createServer({ keepAliveTimeout }, (request, response) => {
    const page = pages.get(originForm(request))
    if (!page) void call(request, response)
    else if (request.method === 'GET' || request.method === 'HEAD') void page(response)
    else sendRejection(response, methodNotAllowed)
  })
  server.on('connect', proxy.reject)

  const drain = drainOf(server)

  return {
    server,
    drain: () => {
      isClosing = true
      return drain()
    },
    cut: () => {
      server.closeAllConnections()
      return proxy.close({ timeout: 0 })
    },
  }
}

/** The store was down since this instance started: it knows no key. */
const clientsUnread: Rejection = {
  status: 503,
  code: 'ERR_GATEWAY_CLIENTS',
  detail: 'The list of clients can’t be read for now. Try again in a moment.',
  headers: { 'retry-after': '5' },
}

const methodNotAllowed: Rejection = {
  status: 405,
  code: 'ERR_GATEWAY_METHOD_NOT_ALLOWED',
  detail: 'This page can only be read.',
  headers: { allow: 'GET, HEAD' },
}
