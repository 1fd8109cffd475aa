/**
 * The rules of every request to the service: its own User-Agent, a time limit, the firewall's blocks, and, for one login at
 * one instance, one cookie jar and one connection.
 *
 * What is below HTTP is in `connection.ts` and `round-trip.ts`; which request to make is each step's own business.
 */
import { SsoError, type SsoStep, UnexpectedResponseError } from '@owner-sso/token-manager'
import {
  answerInTime,
  type Connection,
  type HttpAnswer,
  type HttpClient,
  type HttpRequest,
  openConnection,
  roundTrip,
} from '@owner-sso/token-manager/http'
import type { CarriedCookies } from './axios-client.ts'
import { isFirewallChallenge } from '../firewall/challenge-page.ts'
import { signInFirewall } from '../firewall/sign-in-firewall.ts'
import type { HtmlPage } from '../pages/html-page.ts'
import type { HttpContext, RequestOptions } from './http-context.ts'
import { traceStep } from '../tracing.ts'

/** A request of one step. Without `form` or `json` it is a GET. */
export interface StepRequest {
  readonly step: SsoStep
  readonly url: URL
  /** Names and values in order, sent as application/x-www-form-urlencoded. */
  readonly form?: readonly (readonly [string, string])[]
  /** Sent as application/json. */
  readonly json?: Readonly<Record<string, string>>
}

/** The service's answer to one step: never the firewall's. */
export interface StepAnswer extends HttpAnswer {
  /** The page, where the body is HTML. */
  readonly page: HtmlPage | undefined
}

/** One login's (or one refresh's) conversation with the service. */
export interface HttpSession {
  /**
   * Sends one request, once.
   *
   * @throws FirewallChallengeError, SsoTimeoutError, UnreachableError, UnexpectedResponseError
   */
  send(request: StepRequest): Promise<StepAnswer>
  /** The cookies set by one instance, as `Set-Cookie` values. */
  cookies(origin: string): string[]
  close(): void
}

interface Peer {
  readonly cookies: CarriedCookies | undefined
  readonly connection: Connection
  readonly client: HttpClient
}

/** How a session keeps cookies: one that is no more than a request needs none, and does not load them. */
export interface SessionCookies {
  readonly carried: (origin: string, restored?: readonly string[]) => CarriedCookies
  /** Cookies of an earlier part of the same login, and the instance they belong to. */
  readonly restored?: { readonly origin: string; readonly cookies: readonly string[] }
}

export function openSession(
  service: HttpContext,
  given: RequestOptions = {},
  { carried, restored }: Partial<SessionCookies> = {},
): HttpSession {
  // Own properties alone: what somebody put on Object.prototype is no time limit.
  const options: RequestOptions = Object.assign(Object.create(null), given)
  const firewall = signInFirewall(service.sharedFirewallStates)
  const peers = new Map<string, Peer>()

  /** The requests of a session come one after the other, so each instance is found or opened once. */
  function peerAt(origin: string): Peer {
    const known = peers.get(origin)
    if (known) return known
    const cookies = carried?.(origin, origin === restored?.origin ? restored.cookies : [])
    const connection = openConnection(new URL(origin), service, cookies)
    const client: HttpClient =
      cookies?.clientOver(connection) ?? ((request, sending) => roundTrip(connection, request, sending))
    const peer = { cookies, connection, client }
    peers.set(origin, peer)
    return peer
  }

  /** Within its time limit, unless the host is blocked. */
  async function answerTo(request: StepRequest): Promise<HttpAnswer> {
    const { step, url } = request
    const { transport, proxy, hostBlocks } = service
    hostBlocks.check(url.host, step)
    const { client } = peerAt(url.origin)
    const { timeout = service.timeout, signal, onConnected, beforeSend } = options
    return answerInTime(
      (sending) => client(httpRequest(request, transport.userAgent), sending),
      { step, url, proxy },
      { timeout, signal, onConnected, beforeSend },
    )
  }

  async function send(request: StepRequest): Promise<StepAnswer> {
    const { step, url } = request
    // First what all processes know: their block may last longer than the one of this process.
    const probe = await firewall.enter(url.origin, step)
    const answer = await answerTo(request).catch(async (error: unknown) => {
      if (error instanceof SsoError && !error.requestSent) await probe?.giveBack()
      throw error
    })
    const { status } = answer
    const page = isHtml(answer) ? await readPage(answer.body) : undefined
    if (isFirewallChallenge(status, page)) {
      const challenge = service.hostBlocks.block(url.host, answer.header('retry-after'), step, status)
      throw await firewall.challenged(url.origin, challenge)
    }
    await firewall.passed(url.origin)
    if (page === 'beyond limits') {
      throw new UnexpectedResponseError('its page has too many or too deeply nested elements', { step, status })
    }
    return { ...answer, page }
  }

  return {
    send: (request) => traceStep(request.step, request.url.origin, () => send(request)),
    cookies: (origin) => peers.get(origin)?.cookies?.stored() ?? [],
    close: () => peers.forEach(({ connection }) => connection.close()),
  }
}

/** The parser is loaded with the first page: a refresh, which is answered with JSON, never needs it. */
async function readPage(body: string): Promise<HtmlPage | 'beyond limits'> {
  const { readHtmlPage } = await import('../pages/html-page.ts')
  return readHtmlPage(body)
}

function httpRequest({ url, form, json }: StepRequest, userAgent: string): HttpRequest {
  const headers = {
    'User-Agent': userAgent,
    Accept: 'text/html, application/json',
    // Pages give their reasons in words, which are known in English.
    ...(json === undefined && { 'Accept-Language': 'en' }),
  }
  if (!form && !json) return { method: 'GET', url, headers }
  const [type, body] = json
    ? ['application/json', JSON.stringify(json)]
    : [
        'application/x-www-form-urlencoded',
        new URLSearchParams(form?.map(([name, value]): [string, string] => [name, value])).toString(),
      ]
  return { method: 'POST', url, headers: { ...headers, 'Content-Type': type }, body }
}

/** Whether a body is a page. Its first character counts more than its Content-Type: firewalls send pages under any type. */
function isHtml({ header, body }: HttpAnswer): boolean {
  const first = body.trimStart()[0]
  if (first === undefined || first === '{' || first === '[') return false
  return first === '<' || /html/iu.test(header('content-type') ?? '')
}
