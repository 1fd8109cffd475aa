/**
 * The page for people: how the accounts and clients of a broker are, and the way to sign in again. Rendered here, without
 * client-side JavaScript.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import {
  checkOptionNames,
  type OptionNames,
  type Sso,
  type TokenManager,
  type TokenStatus,
  type TokenStore,
} from '@owner-sso/core'
import { sendAnswer } from '@owner-sso/express'
import Negotiator from 'negotiator'
import type { BrokerClients } from '../clients/broker-clients.ts'
import { isOwnHost } from '../http/guard.ts'
import { refusal } from '../http/refusal.ts'
import type { AccountAlerts } from '../alerts/account-alerts.ts'
import { takeCode } from './entry-code.ts'
import { BadRequestError, type Exchange, readForm, secure, sendPage, sendTo } from './exchange.ts'
import { failuresOf } from './failures.ts'
import { entryPage } from './pages/entry-page.ts'
import { messagePage, type PageContext } from './pages/layout.ts'
import { type AccountRow, overviewPage } from './pages/overview-page.ts'
import { icon, style } from './pages/style.ts'
import { sharedSignIns } from './shared-sign-ins.ts'
import { sendAlone, sharedSubmissions } from './shared-submissions.ts'
import { sharedTries, type TryLimit } from './shared-tries.ts'
import { signInRoutes, signInTries } from './sign-in-routes.ts'
import { type Visitor, visitorKey, type Visitors, visitorsOf } from './visitor.ts'
import { waitingSignIns } from './waiting-sign-ins.ts'

/** What the status page shows, and to whom. */
export interface StatusPageOptions {
  readonly tokens: TokenManager
  /** What signs in. */
  readonly sso: Sso
  readonly clients: Pick<BrokerClients, 'list'>
  /** The store of `tokens`: codes for the entrance stand there, and what was tried is counted there. */
  readonly store: TokenStore
  /**
   * Several instances show this page behind one address: a sign-in that waits for a person waits in the store, sealed with
   * a key that only their browser has, and a form that is posted to two of them at once is sent once. Default: in the
   * memory of the process.
   */
  readonly shareSignIns?: boolean
  /** Below it are all addresses of the page; default `/status`. */
  readonly path?: string
  /** People reach it over https: with a certificate of its own, or behind a proxy. */
  readonly https?: boolean
  /** Names that it goes by, beside `localhost` and IP addresses: as the broker's `hosts`. */
  readonly hosts?: readonly string[]
  /** As the token manager has it; default 0.75. */
  readonly refreshAfter?: number
  /** Told of an account that was signed in. */
  readonly alerts?: Pick<AccountAlerts, 'works'>
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

type Route = (exchange: Exchange) => Promise<void> | void

/** Wrong codes in 15 minutes, of all visitors: a code has 40 bits. */
const guesses: TryLimit = { tries: 20, during: 900 }

const optionNames: OptionNames<StatusPageOptions> = {
  tokens: true,
  sso: true,
  clients: true,
  store: true,
  shareSignIns: true,
  path: true,
  https: true,
  hosts: true,
  refreshAfter: true,
  alerts: true,
  onProblem: true,
}

/**
 * A page with accounts, clients and the way to sign in again.
 *
 * @throws TypeError that names a wrong option
 */
export function statusPage(options: StatusPageOptions): StatusPage {
  checkOptionNames('statusPage', options, optionNames)
  const { tokens, sso, clients, store, path = '/status', https = false, hosts = [], refreshAfter = 0.75 } = options
  if (!/^(?:\/[\w.-]+)+$/u.test(path)) throw new TypeError('path of the status page must be a path such as /status')
  const failures = failuresOf(tokens, store)
  const codes = sharedTries(store, 'status-page-codes', guesses)
  const tries = sharedTries(store, 'sign-in-tries', signInTries)
  const waiting = options.shareSignIns === true ? sharedSignIns(store) : waitingSignIns()
  const names = new Set(hosts.map((host) => host.toLowerCase()))
  let visitors: Promise<Visitors> | undefined

  const contextOf = ({ formToken, isInside }: Visitor): PageContext => ({ path, formToken, isInside })

  const overview: Route = async (exchange) => {
    const { visitor } = exchange
    const text = await newsFor(visitor)
    const listed = await clients.list().catch(() => undefined)
    const page = overviewPage({
      ...contextOf(visitor),
      accounts: await accountRows(tokens, listed?.flatMap(({ accounts }) => accounts) ?? []),
      clients: listed,
      failures: await failures.list(),
      refreshAfter,
      now: Date.now() / 1000,
      notice: text === undefined ? undefined : { kind: 'good', text },
    })
    return sendPage(exchange, 200, page)
  }

  /** That the sign-in has worked: told once. The page is shown without it where the store is down. */
  const newsFor = async ({ id }: Visitor): Promise<string | undefined> => {
    try {
      const done = await waiting.get(id, 'done')
      if (done === undefined) return undefined
      await waiting.delete(id)
      return `${done.account} is signed in. All programs get tokens again.`
    } catch {
      return undefined
    }
  }

  const enter: Route = async (exchange) => {
    const isAllowed = (await codes.count('all')) === 0
    const text = 'Too many codes were tried. Wait 15 minutes, then get a new one.'
    if (!isAllowed) return sendPage(exchange, 429, entryPage(contextOf(exchange.visitor), { kind: 'bad', text }))
    if (await takeCode(store, exchange.form.get('code') ?? '')) {
      await codes.forget('all')
      const { cookie } = (await visitorsHere()).fresh(true)
      return sendTo(exchange, path, cookie)
    }
    const wrong = { kind: 'bad', text: 'This code is not right, or was used, or is too old.' } as const
    return sendPage(exchange, 401, entryPage(contextOf(exchange.visitor), wrong))
  }

  const open = new Map<string, Route>([
    ['GET /style.css', ({ response }) => sendAsset(response, 'text/css; charset=utf-8', style)],
    ['GET /icon.svg', ({ response }) => sendAsset(response, 'image/svg+xml', icon)],
    ['POST /enter', enter],
  ])
  const inside = new Map<string, Route>([
    ['GET ', overview],
    ['POST /leave', async (exchange) => sendTo(exchange, path, (await visitorsHere()).fresh(false).cookie)],
    ...signInRoutes({
      sso,
      tokens,
      path,
      waiting,
      tries,
      sendOnce: options.shareSignIns === true ? sharedSubmissions(store) : sendAlone,
      onSignedIn: (account) => options.alerts?.works(account),
    }),
  ])

  /** The key is in the store: a store that was down is asked again. */
  const visitorsHere = (): Promise<Visitors> => {
    visitors ??= visitorKey(store).then((key) => visitorsOf(key, path, https))
    visitors.catch(() => {
      visitors = undefined
    })
    return visitors
  }

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '', 'http://broker')
    const isOurs = url.pathname === path || url.pathname.startsWith(`${path}/`)
    // A program's call that the broker has no answer to ends here as well.
    if (!isOurs && !isForPeople(request)) return sendAnswer(response, refusal('ERR_BROKER_NOT_FOUND'))
    const method = request.method === 'HEAD' ? 'GET' : request.method
    const name = `${method} ${url.pathname.slice(path.length).replace(/\/$/u, '')}`
    const visitor = (await visitorsHere()).of(request)
    const empty: Exchange = { request, response, url, visitor, form: new URLSearchParams() }
    try {
      if (!isOurs || !(open.has(name) || inside.has(name))) throw new BadRequestError(404, 'There is no such page.')
      const route = open.get(name) ?? inside.get(name)
      const form = method === 'POST' ? await readForm(request, visitor) : empty.form
      if (!open.has(name) && !visitor.isInside) return await sendPage(empty, 200, entryPage(contextOf(visitor)))
      await route?.({ ...empty, form })
    } catch (error) {
      if (!(error instanceof BadRequestError)) throw error
      await sendPage(empty, error.status, messagePage(contextOf(visitor), 'That did not work', error.message))
    }
  }

  const handler: RequestListener = (request, response) => {
    secure(response, https)
    // A page of another site whose name was made to lead here (DNS rebinding) is called otherwise.
    if (!isOwnHost(request.headers.host, names)) return sendText(response, 421, 'This is not the name of this broker.')
    answer(request, response).catch((error: unknown) => {
      options.onProblem?.(error)
      if (response.headersSent) return response.destroy()
      response.setHeader('retry-after', '5')
      return sendText(response, 503, 'The page can’t be shown now: its store can’t be read. Try again in a minute.')
    })
  }
  return { handler, noteFailure: failures.note, close: failures.close }
}

/** Browsers ask for a page. */
function isForPeople(request: IncomingMessage): boolean {
  return new Negotiator(request).mediaType(['application/problem+json', 'text/html']) === 'text/html'
}

function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`)
}

function sendAsset(response: ServerResponse, type: string, text: string): void {
  response.writeHead(200, { 'content-type': type, 'cache-control': 'max-age=3600' }).end(text)
}

/** Those that are signed in, and those that clients wait for. */
async function accountRows(tokens: TokenManager, ofClients: readonly string[]): Promise<AccountRow[]> {
  const names = new Set(ofClients)
  try {
    for await (const name of tokens.accounts()) names.add(name)
  } catch {
    // A store that can't list, or can't be read: each row says how it is.
  }
  const statusOf = (account: string): Promise<TokenStatus | undefined> => tokens.status(account).catch(() => undefined)
  const sorted = [...names].toSorted((one, other) => one.localeCompare(other))
  return Promise.all(sorted.map(async (account) => ({ account, status: await statusOf(account) })))
}
