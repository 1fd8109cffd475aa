/**
 * Invites a program, gives it a new key, and revokes it. A key is shown in the answer to the form that made it, and never again.
 */
import type { Notice } from '#sign-in-pages'
import type { TokenManager } from '@owner-sso/core'
import type { BrokerClients } from '../../clients/broker-clients.ts'
import type { Invited } from '../../clients/client.ts'
import { ClientsError } from '../../clients/clients-error.ts'
import { type Exchange, type Route, sendPage } from '../exchange.ts'
import { accountNames } from '../overview.ts'
import { invitePage } from '../pages/invite-page.ts'
import { keyPage } from '../pages/key-page.ts'
import { messagePage, type PageContext } from '../pages/page.ts'
import { programPage } from '../pages/program-page.ts'
import { isProgramAction, type ProgramAction, surePage } from '../pages/sure-page.ts'
import { type Reply, submissions } from '../sign-in/submissions.ts'
import type { OnceForms } from './once-forms.ts'

export interface ProgramSurroundings {
  readonly path: string
  readonly https: boolean
  /** `Sso.vehicleList`. */
  readonly vehicleList: string
  readonly tokens: Pick<TokenManager, 'accounts' | 'status'>
  readonly clients: Pick<BrokerClients, 'invite' | 'list' | 'revoke' | 'rotate'>
  readonly forms: OnceForms
}

/** By method and what follows the page's path. */
export function programRoutes(around: ProgramSurroundings): ReadonlyMap<string, Route> {
  const once = submissions()
  return new Map<string, Route>([
    ['GET /invite', (exchange) => showInvite(around, exchange)],
    ['POST /invite', (exchange) => once(exchange, () => invite(around, exchange))],
    ['GET /program', (exchange) => showProgram(around, exchange)],
    ['POST /program', (exchange) => once(exchange, () => change(around, exchange))],
  ])
}

async function showInvite(
  around: ProgramSurroundings,
  exchange: Exchange,
  problem?: Notice,
  status = 200,
): Promise<void> {
  const { tokens, clients } = around
  const listed = await clients.list().catch(() => [])
  const { names: accounts } = await accountNames(tokens, listed)
  const context = contextOf(around, exchange)
  const program = listed.find(({ name }) => name === typedName(exchange.form))
  const page = invitePage({
    ...context,
    accounts,
    typed: exchange.form,
    form: around.forms.make(exchange),
    problem,
    program,
  })
  return sendPage(exchange, status, page)
}

async function invite(around: ProgramSurroundings, exchange: Exchange): Promise<Reply> {
  const { form } = exchange
  const name = typedName(form)
  const refused =
    (text: string, status: number): Reply =>
    (to) =>
      showInvite(around, to, { title: 'Not invited', text }, status)
  if (!around.forms.isFirst(exchange)) return refused(sentBefore, 409)
  try {
    const scope = form.get('scope') === 'proxy' ? 'proxy' : 'token'
    return await showKey(
      around,
      await around.clients.invite({ name, accounts: [form.get('account') ?? ''], scope: [scope] }),
    )
  } catch (error) {
    if (error instanceof TypeError) return refused(`The ${error.message}.`, 400)
    if (!(error instanceof ClientsError)) throw error
    if (error.reason !== 'name-taken') return refused(error.message, 503)
    return refused(`There is a program named ${name} already. Take another name, or open it and make a new key.`, 409)
  }
}

const sentBefore = 'This form was sent before, so nothing was done again. If nobody saw the key, make a new one.'

async function showProgram(around: ProgramSurroundings, exchange: Exchange, problem?: Notice): Promise<void> {
  const name = nameIn(exchange)
  const program = (await around.clients.list()).find((client) => client.name === name)
  if (program === undefined) return showGone(around, exchange)
  const now = Date.now() / 1000
  const page = programPage({ ...contextOf(around, exchange), program, form: around.forms.make(exchange), now, problem })
  return sendPage(exchange, problem === undefined ? 200 : 409, page)
}

/** What follows from it is said before it is done. */
async function askFirst(around: ProgramSurroundings, exchange: Exchange, action: ProgramAction): Promise<void> {
  const name = nameIn(exchange)
  if (!(await around.clients.list()).some((client) => client.name === name)) return showGone(around, exchange)
  const form = exchange.form.get('form') ?? ''
  return sendPage(exchange, 200, surePage({ ...contextOf(around, exchange), name, action, form }))
}

async function change(around: ProgramSurroundings, exchange: Exchange): Promise<Reply> {
  const { form } = exchange
  const name = nameIn(exchange)
  const action = form.get('action')
  if (!isProgramAction(action)) return (to) => showProgram(around, to)
  if (form.get('sure') !== 'yes') return (to) => askFirst(around, to, action)
  if (!around.forms.isFirst(exchange)) {
    return (to) => showProgram(around, to, { title: 'Nothing was changed', text: sentBefore })
  }
  if (action === 'revoke') {
    const wasThere = await around.clients.revoke(name)
    return (to) => (wasThere ? showRevoked(around, to) : showGone(around, to))
  }
  try {
    return await showKey(around, await around.clients.rotate(name))
  } catch (error) {
    const isGone = error instanceof ClientsError && error.reason === 'unknown-client'
    if (isGone) return (to) => showGone(around, to)
    throw error
  }
}

async function showKey(around: ProgramSurroundings, invited: Invited): Promise<Reply> {
  const missing = await notSignedIn(around, invited)
  return (to) => {
    const { headers } = to.request
    const address = headers.origin ?? `${around.https ? 'https' : 'http'}://${headers.host}`
    return sendPage(
      to,
      200,
      keyPage({ ...contextOf(around, to), invited, address, vehicleList: around.vehicleList, missing }),
    )
  }
}

/** The first account of a program that nobody is signed in to. The key is shown also where that can't be read. */
async function notSignedIn({ tokens }: ProgramSurroundings, { client }: Invited): Promise<string | undefined> {
  for (const account of client.accounts) {
    const status = await tokens.status(account).catch(() => undefined)
    if (status?.state === 'signed-out' || status?.state === 'reauthentication-required') return account
  }
  return undefined
}

function showRevoked(around: ProgramSurroundings, exchange: Exchange): Promise<void> {
  const text = 'It gets nothing from its next call on. A token that it has already works until it ends.'
  return sendPage(exchange, 200, messagePage(contextOf(around, exchange), `${nameIn(exchange)} is revoked`, text))
}

function showGone(around: ProgramSurroundings, exchange: Exchange): Promise<void> {
  const text = `No program is called ${nameIn(exchange)}. It may have been revoked meanwhile.`
  return sendPage(exchange, 404, messagePage(contextOf(around, exchange), 'No such program', text))
}

function typedName(form: URLSearchParams): string {
  return form.get('name')?.trim() ?? ''
}

function nameIn({ url }: Exchange): string {
  return url.searchParams.get('name') ?? ''
}

/** Every page of a program is for somebody who came in. */
function contextOf({ path }: ProgramSurroundings, { visitor }: Exchange): PageContext {
  return { path, formToken: visitor.formToken, isInside: true }
}
