/**
 * The page for people: how the accounts and clients of a broker are, and the way to sign in and to let programs in and out.
 * Rendered here; it works without JavaScript.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { checkOptions, kinds, type OptionRows, type Sso, type TokenManager, type TokenStore } from '@owner-sso/core'
import { letIn, originForm, sendAnswer } from '@owner-sso/express/support'
import Negotiator from 'negotiator'
import type { BrokerClients } from '../clients/broker-clients.ts'
import type { BrokerAlerts } from '../http/account-tokens.ts'
import { hostsRow, storeRow } from '../given/given.ts'
import { isNamedOtherwise, namesOf } from '../http/guard.ts'
import { notFound, rejection, rejections } from '../http/rejection.ts'
import { entranceOf } from './entrance.ts'
import { BadRequestError, contextOf, type Visit, readForm, type Route, secure, sendPage } from './visit.ts'
import { type Failures, failuresOf } from './failures.ts'
import { showOverview } from './overview.ts'
import { icon, messagePage, style } from './pages/page.ts'
import { programRoutes } from './program-routes.ts'
import { showServicePage, submitServicePage } from './sign-in/service-page.ts'
import { type SignInParts, signInTries, waitingSignIns } from './sign-in/sign-in-parts.ts'
import { showPasscode, showPassword, submitPasscode, submitPassword } from './sign-in/typed.ts'
import { submissions } from './submissions.ts'
import { visitorsIn } from './visitor.ts'

/** What the status page shows, and to whom. */
export interface StatusPageOptions {
  readonly tokens: TokenManager
  /** What signs in. */
  readonly sso: Sso
  readonly clients: Pick<BrokerClients, 'invite' | 'list' | 'revoke' | 'rotate'>
  /** The store of `tokens`: codes for the entrance stand there, and who has signed out. */
  readonly store: TokenStore
  /** Below it are all addresses of the page; default `/status`. */
  readonly path?: string
  /** People reach it over https: with a certificate of its own, or behind a proxy. */
  readonly https?: boolean
  /** Names that it goes by, beside `localhost` and IP addresses: as the broker's `hosts`. */
  readonly hosts?: readonly string[]
  /** Told of an account that was signed in. */
  readonly alerts?: Pick<BrokerAlerts, 'works'>
  /** Gets what a page leaves out. */
  readonly onProblem?: (error: unknown) => void
}

/** The status page, as a handler for a server. */
export interface StatusPage {
  /** For `node:http`, Connect and Express. Whatever is not below its path gets 404. */
  readonly handler: RequestListener
  /** Shows something that failed, such as an alert, among the last failures. */
  readonly noteFailure: (what: string, account?: string) => void
  readonly close: () => void
}

const rows: OptionRows<StatusPageOptions> = {
  tokens: kinds.required(
    kinds.having('what createTokenManager() returns', 'accounts', 'history', 'on', 'save', 'status'),
  ),
  sso: kinds.required(kinds.having('what createSso() returns', 'beginLogin', 'createAuthorizationUrl', 'refresh')),
  clients: kinds.required(kinds.having('what brokerClients() returns', 'invite', 'list', 'revoke', 'rotate')),
  store: storeRow,
  path: {
    must: 'a path such as /status',
    fits: (value) => typeof value === 'string' && /^(?:\/[\w.-]+)+$/u.test(value),
  },
  https: kinds.boolean,
  hosts: hostsRow,
  alerts: kinds.having('what accountAlerts() returns', 'works'),
  onProblem: kinds.function,
}

/**
 * A page with accounts, clients, and the way to sign in and to let programs in and out.
 *
 * @throws TypeError that names a wrong option
 */
export function statusPage(options: StatusPageOptions): StatusPage {
  checkOptions('statusPage', options, rows)
  const { tokens, store, path = '/status', https = false, hosts = [], onProblem = () => undefined } = options
  const failures = failuresOf(tokens)
  const visitors = visitorsIn(store, path, https)
  const entrance = entranceOf(store, path, visitors)
  /** For everybody, by method and what follows the page's path. */
  const open = new Map<string, Route>([
    ['GET /style.css', ({ response }) => sendAsset(response, 'text/css; charset=utf-8', style)],
    ['GET /icon.svg', ({ response }) => sendAsset(response, 'image/svg+xml', icon)],
    ['POST /enter', entrance.enter],
  ])
  /** For those who came in; others are shown the entrance. */
  const inside = new Map([...insideRoutes(options, path, failures), ['POST /leave', entrance.leave] as const])
  const names = namesOf(hosts)

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(originForm(request).replace(/^\/?/u, 'http://broker/'))
    if (url.pathname === '/' && (request.method === 'GET' || request.method === 'HEAD')) {
      response.writeHead(303, { location: path }).end()
      return
    }
    const isOurs = url.pathname === path || url.pathname.startsWith(`${path}/`)
    // A program's call that the broker has no answer to ends here as well.
    if (!isOurs && !isForPeople(request)) return sendAnswer(response, notFound(url.pathname))
    const method = request.method === 'HEAD' ? 'GET' : request.method
    const name = `${method} ${url.pathname.slice(path.length).replace(/\/$/u, '')}`
    const { cookie, ...known } = await visitors.of(request)
    // At other paths a browser does not send the cookie: a new one in the answer would sign its owner out.
    const visitor = isOurs && cookie !== undefined ? { ...known, cookie } : known
    const empty: Visit = { request, response, url, visitor, form: new URLSearchParams() }
    try {
      const route = isOurs ? (open.get(name) ?? inside.get(name)) : undefined
      if (route === undefined) throw new BadRequestError(404, 'There is no such page.')
      const form = method === 'POST' ? await readForm(request, visitor) : empty.form
      if (!open.has(name) && !visitor.isInside) return await entrance.show(empty)
      await route({ ...empty, form })
    } catch (error) {
      if (!(error instanceof BadRequestError)) throw error
      await sendPage(empty, error.status, messagePage(contextOf(path, empty), 'That did not work', error.message))
    }
  }

  const handler: RequestListener = (request, response) => {
    if (!letIn(request, response, rejection('ERR_BROKER_MALFORMED_REQUEST'))) return
    secure(response, https)
    // A page of another site whose name was made to lead here (DNS rebinding) is called otherwise.
    if (isNamedOtherwise(request, names)) return sendText(response, ...rejections['ERR_BROKER_HOST'])
    answer(request, response).catch((error: unknown) => {
      onProblem(error)
      if (response.headersSent) return response.destroy()
      response.setHeader('retry-after', '5')
      return sendText(response, 503, 'The page can’t be shown now: its store can’t be read. Try again in a minute.')
    })
  }
  return { handler, noteFailure: failures.note, close: failures.close }
}

function insideRoutes(
  { tokens, sso, clients, https = false, alerts }: StatusPageOptions,
  path: string,
  failures: Failures,
): ReadonlyMap<string, Route> {
  const waiting = waitingSignIns()
  const onSignedIn = (account: string): void => alerts?.works(account)
  return new Map<string, Route>([
    ['GET ', (visit) => showOverview({ path, tokens, clients, failures, waiting }, visit)],
    ...signInRoutes({ sso, tokens, path, waiting, tries: signInTries(), onSignedIn }),
    ...programRoutes({ path, https, vehicleList: sso.vehicleList, tokens, clients }),
  ])
}

/** "Sign in again" in place: with e-mail, password and second factor, or on the service's own page. */
function signInRoutes(parts: SignInParts): ReadonlyMap<string, Route> {
  const once = submissions()
  // A registered application has no login form to fill in.
  const hasForm = parts.sso.service !== 'registered'
  const showFirst = hasForm ? showPassword : showServicePage
  const submitFirst = hasForm ? submitPassword : submitServicePage
  return new Map<string, Route>([
    ['GET /sign-in', (visit) => showFirst(parts, visit, accountIn(visit))],
    ['POST /sign-in', (visit) => once(visit, () => submitFirst(parts, visit))],
    ['GET /sign-in/passcode', (visit) => showPasscode(parts, visit)],
    ['POST /sign-in/passcode', (visit) => once(visit, () => submitPasscode(parts, visit))],
    ['GET /sign-in/browser', (visit) => showServicePage(parts, visit, accountIn(visit))],
    ['POST /sign-in/browser', (visit) => once(visit, () => submitServicePage(parts, visit))],
  ])
}

const accountIn = ({ url }: Visit): string | undefined => url.searchParams.get('account') ?? undefined

function isForPeople(request: IncomingMessage): boolean {
  return new Negotiator(request).mediaType(['application/problem+json', 'text/html']) === 'text/html'
}

function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`)
}

function sendAsset(response: ServerResponse, type: string, text: string): void {
  response.writeHead(200, { 'content-type': type, 'cache-control': 'max-age=3600' }).end(text)
}
