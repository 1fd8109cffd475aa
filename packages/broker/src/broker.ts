/**
 * `tokenBroker`: one sign-in for every program. Reads top to bottom as a call goes.
 */
import type { IncomingMessage, RequestListener } from 'node:http'
import type { Duplex } from 'node:stream'
import { type OwnerApiProxy, ownerApiProxy } from '@owner-sso/express'
import { asksForUpgrade, letIn, originForm, rejecter, sendAnswer } from '@owner-sso/express/support'
import { LRUCache } from 'lru-cache'
import { sha256 } from './clients/secret.ts'
import { accountTokens } from './http/account-tokens.ts'
import { type AuditEntry, auditTo } from './http/audit.ts'
import { type BrokerParts, type Call, clientWithKey } from './http/call.ts'
import { accountFor, accountInHeader, bearerKey } from './http/caller.ts'
import { answerCurrentToken } from './http/current-token.ts'
import { type BrokerHandler, type Door, openDoor } from './http/door.ts'
import { guardRejection } from './http/guard.ts'
import { callLimits } from './http/limits.ts'
import { errorAnswer, notFound, rejection } from './http/rejection.ts'
import { type TokenChanges, tokenChanges } from './http/token-changes.ts'
import { answerTokenRequest, sendJson } from './http/token-endpoint.ts'
import { type BrokerServer, listenAt, type ListenOptions } from './listen/listen.ts'
import { parseBrokerOptions, type TokenBrokerOptions } from './options.ts'

/** A door for programs that need a token, and are neither ours nor JavaScript. */
export interface TokenBroker {
  /** Every caller needs a key. */
  readonly handler: BrokerHandler
  /**
   * For a server's event `connect`, which never reaches a handler: rejects with an answer. It also answers an `upgrade`, but a server
   * that listens to that hands it clients that only offer HTTP/2, too; the handler rejects upgrades by itself.
   */
  readonly reject: (request: IncomingMessage, socket: Duplex) => void
  /**
   * A server of the broker's own.
   *
   * @param options - where. Anything but a Unix socket or a loopback address needs `tls`, or `behindTlsProxy: true`
   * @param also - answers every path that is not the broker's, such as a status page
   * @throws TypeError that names the option; the system's error where it can't listen there
   */
  readonly listen: (options: ListenOptions, also?: RequestListener) => Promise<BrokerServer>
  /** Ends its servers and the calls that wait, lets those under way end, and writes what is known of the clients' use. */
  readonly close: () => Promise<void>
}

type Route = (call: Call) => Promise<void>

/**
 * A broker that hands out the access tokens of a token manager to invited clients.
 *
 * @throws TypeError that names a wrong option
 */
export function tokenBroker(options: TokenBrokerOptions): TokenBroker {
  const settings = parseBrokerOptions(options)
  const { tokens, clients, hosts, limits } = settings
  const tokensOf = accountTokens(tokens, settings.alerts)
  const changes = tokenChanges(tokens, tokensOf, limits.waiting)
  const parts: BrokerParts = {
    tokens,
    clients,
    tokensOf,
    limits: callLimits(limits),
    // One for each program and token: more than a household, or a fleet's hour.
    handedOut: new LRUCache({ max: 10_000 }),
    audit: auditTo(settings.audit),
    answerTo: (error, request) => errorAnswer(error, request, settings.onProblem),
  }
  const proxy: OwnerApiProxy | undefined =
    settings.proxy &&
    ownerApiProxy({
      ...settings.proxy,
      tokens,
      authorize: true,
      account: (request) => callers.get(request),
      onProblem: settings.onProblem,
    })

  const handle = handling({ parts, proxy, hosts, routes: routesOf(parts, changes) })
  const servers: BrokerServer[] = []
  return {
    handler: handle(openDoor),
    reject,
    async listen(where, also) {
      const server = await listenAt(where, { handle, reject, also })
      servers.push(server)
      return server
    },
    async close() {
      changes.close()
      // A call of the owner API may stream for ever, and nothing is lost with it.
      await Promise.all([...servers.map((server) => server.close()), proxy?.close({ timeout: 10_000 })])
      // The store may be down: a count of calls is worth no failure.
      await clients.close().catch(() => undefined)
    },
  }
}

type Routes = ReadonlyMap<string, readonly [methods: readonly string[], route: Route]>

function routesOf(parts: BrokerParts, changes: TokenChanges): Routes {
  const tokenEndpoint: readonly [string[], Route] = [['POST'], (call) => answerTokenRequest(call, parts)]
  return new Map([
    ['/oauth2/v3/token', tokenEndpoint],
    ['/oauth/token', tokenEndpoint],
    ['/token', [['GET', 'HEAD'], (call) => answerCurrentToken(call, parts, changes)]],
    ['/healthz', [['GET', 'HEAD'], async ({ response }) => sendJson(response, 200, { alive: true })]],
  ])
}

interface Handling {
  readonly parts: BrokerParts
  readonly proxy: OwnerApiProxy | undefined
  readonly hosts: ReadonlySet<string>
  readonly routes: Routes
}

function handling({ parts, proxy, hosts, routes }: Handling): (door: Door) => BrokerHandler {
  return (door) => (request, response, next) => {
    const { method = '' } = request
    const [path = '', search = ''] = originForm(request).split(/\?(.*)/su)
    const isProxied = proxy !== undefined && path.startsWith('/api/')
    const [methods, route] = routes.get(path) ?? []
    if (!isProxied && route === undefined && next !== undefined) return next()
    if (!letIn(request, response, rejection('ERR_BROKER_MALFORMED_REQUEST'))) return
    const code = door.isLocal ? undefined : guardRejection(request, hosts)
    if (code !== undefined) return sendAnswer(response, rejection(code))
    if (asksForUpgrade(request)) return sendAnswer(response, rejection('ERR_BROKER_UPGRADE_REJECTED'))
    const call: Call = { request, response, door, query: new URLSearchParams(search), told: {} }
    if (isProxied) return answer(call, parts, 'proxy', answerProxiedCall(call, parts, proxy))
    if (route === undefined || methods === undefined) return sendAnswer(response, notFound(path))
    if (!methods.includes(method)) {
      return sendAnswer(response, rejection('ERR_BROKER_METHOD_NOT_ALLOWED', { allow: methods.join(', ') }))
    }
    return answer(call, parts, 'get', route(call))
  }
}

/** For whom a call of the owner API is made, once that is known: what the proxy asks. */
const callers = new WeakMap<IncomingMessage, string>()

/** A program that calls the owner API here needs no token at all. @throws RejectedCall, ClientsError, StoreError */
async function answerProxiedCall(call: Call, parts: BrokerParts, proxy: OwnerApiProxy): Promise<void> {
  const { request, response, door, told } = call
  const bearer = bearerKey(request)
  const client = await clientWithKey(call, parts, bearer && (parts.handedOut.get(sha256(bearer)) ?? bearer))
  const account = accountFor(client, 'proxy', accountInHeader(request))
  told.account = account
  callers.set(request, account)
  parts.audit({ event: 'call', by: 'proxy', ...told, address: door.addressOf(request) })
  proxy(request, response)
}

/** Answers and notes what a route rejects, or fails with. */
function answer(call: Call, { audit, answerTo }: BrokerParts, by: AuditEntry['by'], answered: Promise<void>): void {
  const { request, response, door, told } = call
  answered.catch((error: unknown) => {
    const rejected = answerTo(error, request)
    sendAnswer(response, rejected)
    audit({ event: 'rejected', by, ...told, address: door.addressOf(request), code: rejected.problem.code })
  })
}

const reject = rejecter(rejection('ERR_BROKER_METHOD_NOT_ALLOWED'), rejection('ERR_BROKER_UPGRADE_REJECTED'))
