/**
 * The first page: how accounts and programs are, and what went wrong lately. What can't be read is left out, and said.
 */
import type { TokenManager } from '@owner-sso/core'
import type { BrokerClients } from '../clients/broker-clients.ts'
import type { BrokerClient } from '../clients/client.ts'
import type { Failures } from './failures.ts'
import { overviewPage } from './pages/overview-page.ts'
import type { WaitingSignIns } from './sign-in/sign-in-parts.ts'
import { contextOf, type Visit, sendPage } from './visit.ts'

export interface OverviewSources {
  readonly path: string
  readonly tokens: Pick<TokenManager, 'accounts' | 'history'>
  readonly clients: Pick<BrokerClients, 'list'>
  readonly failures: Pick<Failures, 'list'>
  readonly waiting: WaitingSignIns
}

export async function showOverview(sources: OverviewSources, visit: Visit): Promise<void> {
  const { path, tokens, failures, waiting } = sources
  const { id } = visit.visitor
  // That a sign-in has worked is told once.
  const signedIn = waiting.done.get(id)
  waiting.done.delete(id)
  const clients = await sources.clients.list().catch(() => undefined)
  const { names, areAllListed } = await accountNames(tokens, clients ?? [])
  const page = overviewPage({
    ...contextOf(path, visit),
    accounts: await Promise.all(names.map(async (account) => ({ account, ...(await tokens.history(account)) }))),
    areAllListed,
    clients,
    failures: failures.list(),
    now: Date.now() / 1000,
    news:
      signedIn === undefined
        ? undefined
        : { title: `${signedIn} is signed in.`, text: 'Programs that are invited for it get tokens.' },
  })
  return sendPage(visit, 200, page)
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
