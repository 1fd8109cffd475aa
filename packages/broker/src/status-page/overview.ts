/**
 * The first page: how accounts and programs are, and what went wrong lately. What can't be read is left out, and said.
 */
import type { Notice } from '#sign-in-pages'
import type { TokenManager } from '@owner-sso/core'
import type { BrokerClients } from '../clients/broker-clients.ts'
import type { BrokerClient } from '../clients/client.ts'
import { type Visit, sendPage } from './visit.ts'
import type { Failures } from './failures.ts'
import { type OverviewPage, overviewPage } from './pages/overview-page.ts'
import type { WaitingSignIns } from './sign-in/sign-in-parts.ts'

export interface OverviewSources {
  readonly path: string
  readonly tokens: Pick<TokenManager, 'accounts' | 'history'>
  readonly clients: Pick<BrokerClients, 'list'>
  readonly failures: Pick<Failures, 'list'>
  readonly waiting: WaitingSignIns
}

export async function showOverview(sources: OverviewSources, visit: Visit): Promise<void> {
  const { path, tokens, clients, failures, waiting } = sources
  const { id, formToken, isInside } = visit.visitor
  const news = newsFor(id, waiting)
  const listed = await clients.list().catch(() => undefined)
  const rows = await accountRows(tokens, listed ?? [])
  const page = overviewPage({
    path,
    formToken,
    isInside,
    ...rows,
    clients: listed,
    failures: failures.list(),
    now: Date.now() / 1000,
    news,
  })
  return sendPage(visit, 200, page)
}

/** That the sign-in has worked: told once. */
function newsFor(visitor: string, { done }: WaitingSignIns): Notice | undefined {
  const account = done.get(visitor)
  done.delete(visitor)
  return account === undefined
    ? undefined
    : { title: `${account} is signed in.`, text: 'Programs that are invited for it get tokens.' }
}

async function accountRows(
  tokens: OverviewSources['tokens'],
  clients: readonly BrokerClient[],
): Promise<Pick<OverviewPage, 'accounts' | 'areAllListed'>> {
  const { names, areAllListed } = await accountNames(tokens, clients)
  const accounts = await Promise.all(names.map(async (account) => ({ account, ...(await tokens.history(account)) })))
  return { accounts, areAllListed }
}

/** Those that are signed in, and those that clients wait for; whether the store could list all of the former. */
export async function accountNames(
  tokens: Pick<TokenManager, 'accounts'>,
  clients: readonly BrokerClient[],
): Promise<{ readonly names: readonly string[]; readonly areAllListed: boolean }> {
  const names = new Set(clients.flatMap(({ accounts }) => accounts))
  let areAllListed = true
  try {
    for await (const name of tokens.accounts()) names.add(name)
  } catch {
    areAllListed = false
  }
  return { names: [...names].toSorted((one, other) => one.localeCompare(other)), areAllListed }
}
