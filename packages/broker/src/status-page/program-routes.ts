/**
 * Invites a program, gives it a new key, and revokes it. A key is shown in the answer to the form that made it, and never again.
 */
import type { Notice } from '#sign-in-pages'
import type { TokenManager } from '@owner-sso/core'
import type { BrokerClients } from '../clients/broker-clients.ts'
import { ClientsError, type Invited } from '../clients/client.ts'
import { contextOf, type Visit, type Route, sendPage } from './visit.ts'
import { accountNames } from './overview.ts'
import { invitePage } from './pages/invite-page.ts'
import { keyPage } from './pages/key-page.ts'
import { messagePage } from './pages/page.ts'
import { isProgramAction, type ProgramAction, programPage, surePage } from './pages/program-page.ts'
import { type OnceForms, onceForms, type Reply, submissions } from './submissions.ts'

interface ProgramParts {
  readonly path: string
  readonly https: boolean
  readonly vehicleList: string
  readonly tokens: Pick<TokenManager, 'accounts' | 'status'>
  readonly clients: Pick<BrokerClients, 'invite' | 'list' | 'revoke' | 'rotate'>
  readonly forms: OnceForms
}

/** By method and what follows the page's path. */
export function programRoutes(of: Omit<ProgramParts, 'forms'>): ReadonlyMap<string, Route> {
  const parts = { ...of, forms: onceForms() }
  const once = submissions()
  return new Map<string, Route>([
    ['GET /invite', (visit) => showInvite(parts, visit)],
    ['POST /invite', (visit) => once(visit, () => invite(parts, visit))],
    ['GET /program', (visit) => showProgram(parts, visit)],
    ['POST /program', (visit) => once(visit, () => change(parts, visit))],
  ])
}

async function showInvite(parts: ProgramParts, visit: Visit, problem?: Notice, status = 200): Promise<void> {
  const { tokens, clients } = parts
  const listed = await clients.list().catch(() => [])
  const { names: accounts } = await accountNames(tokens, listed)
  const context = contextOf(parts.path, visit)
  const program = listed.find(({ name }) => name === typedName(visit.form))
  const form = parts.forms.make(visit)
  return sendPage(visit, status, invitePage({ ...context, accounts, typed: visit.form, form, problem, program }))
}

async function invite(parts: ProgramParts, visit: Visit): Promise<Reply> {
  const { form } = visit
  const name = typedName(form)
  const rejected =
    (text: string, status: number): Reply =>
    (to) =>
      showInvite(parts, to, { title: 'Not invited', text }, status)
  if (!parts.forms.isFirst(visit)) return rejected(sentBefore, 409)
  try {
    const scope = form.get('scope') === 'proxy' ? 'proxy' : 'token'
    const accounts = [form.get('account') ?? '']
    return await showKey(parts, await parts.clients.invite({ name, accounts, scope: [scope] }))
  } catch (error) {
    if (error instanceof TypeError) return rejected(`The ${error.message}.`, 400)
    if (!(error instanceof ClientsError)) throw error
    if (error.reason !== 'name-taken') return rejected(error.message, 503)
    return rejected(`There is a program named ${name} already. Take another name, or open it and make a new key.`, 409)
  }
}

const sentBefore = 'This form was sent before, so nothing was done again. If nobody saw the key, make a new one.'

async function showProgram(parts: ProgramParts, visit: Visit, problem?: Notice): Promise<void> {
  const name = nameIn(visit)
  const program = (await parts.clients.list()).find((client) => client.name === name)
  if (program === undefined) return showGone(parts, visit)
  const now = Date.now() / 1000
  const page = programPage({ ...contextOf(parts.path, visit), program, form: parts.forms.make(visit), now, problem })
  return sendPage(visit, problem === undefined ? 200 : 409, page)
}

/** What follows from it is said before it is done. */
async function askFirst(parts: ProgramParts, visit: Visit, action: ProgramAction): Promise<void> {
  const name = nameIn(visit)
  if (!(await parts.clients.list()).some((client) => client.name === name)) return showGone(parts, visit)
  const form = visit.form.get('form') ?? ''
  return sendPage(visit, 200, surePage({ ...contextOf(parts.path, visit), name, action, form }))
}

async function change(parts: ProgramParts, visit: Visit): Promise<Reply> {
  const { form } = visit
  const name = nameIn(visit)
  const action = form.get('action')
  if (!isProgramAction(action)) return (to) => showProgram(parts, to)
  if (form.get('sure') !== 'yes') return (to) => askFirst(parts, to, action)
  if (!parts.forms.isFirst(visit)) {
    return (to) => showProgram(parts, to, { title: 'Nothing was changed', text: sentBefore })
  }
  if (action === 'revoke') {
    const wasThere = await parts.clients.revoke(name)
    return (to) => (wasThere ? showRevoked(parts, to) : showGone(parts, to))
  }
  try {
    return await showKey(parts, await parts.clients.rotate(name))
  } catch (error) {
    const isGone = error instanceof ClientsError && error.reason === 'unknown-client'
    if (isGone) return (to) => showGone(parts, to)
    throw error
  }
}

async function showKey(parts: ProgramParts, invited: Invited): Promise<Reply> {
  const missing = await notSignedIn(parts, invited)
  const { https, vehicleList } = parts
  return (to) => {
    const { headers } = to.request
    const address = headers.origin ?? `${https ? 'https' : 'http'}://${headers.host}`
    return sendPage(to, 200, keyPage({ ...contextOf(parts.path, to), invited, address, vehicleList, missing }))
  }
}

/** The first account of a program that nobody is signed in to. The key is shown also where that can't be read. */
async function notSignedIn({ tokens }: ProgramParts, { client }: Invited): Promise<string | undefined> {
  for (const account of client.accounts) {
    const status = await tokens.status(account).catch(() => undefined)
    if (status?.state === 'signed-out' || status?.state === 'reauthentication-required') return account
  }
  return undefined
}

function showRevoked(parts: ProgramParts, visit: Visit): Promise<void> {
  const text = 'It gets nothing from its next call on. A token that it has already works until it ends.'
  return sendPage(visit, 200, messagePage(contextOf(parts.path, visit), `${nameIn(visit)} is revoked`, text))
}

function showGone(parts: ProgramParts, visit: Visit): Promise<void> {
  const text = `No program is called ${nameIn(visit)}. It may have been revoked meanwhile.`
  return sendPage(visit, 404, messagePage(contextOf(parts.path, visit), 'No such program', text))
}

function typedName(form: URLSearchParams): string {
  return form.get('name')?.trim() ?? ''
}

function nameIn({ url }: Visit): string {
  return url.searchParams.get('name') ?? ''
}
