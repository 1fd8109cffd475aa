/**
 * The token manager: it checks what callers hand in, and leads each call to the file that tells its story.
 */
import { OtherOwnerError, type StoreError } from '../errors.ts'
import { budgetGate } from '../gates/budget/budget-gate.ts'
import { createRefreshBudget } from '../gates/budget/refresh-budget.ts'
import { firewallGate, firewallStateForSignIns } from '../gates/firewall/firewall-gate.ts'
import { createSharedFirewall } from '../gates/firewall/shared-firewall.ts'
import { isBare, type TokenSet } from '../issuer/token-set.ts'
import { parseCallOptions } from '../issuer/call-options.ts'
import { type Account, createAccountMemory } from '../kernel/account-memory.ts'
import type { Context, Work } from '../kernel/context.ts'
import { momentOf, run } from '../kernel/driver.ts'
import { isWorthALook } from '../kernel/elsewhere.ts'
import { refreshIfRefused, waitFor } from '../kernel/flight.ts'
import { type Gate, gatesOf } from '../kernel/gate.ts'
import { type Machine, machine as refreshProtocol } from '../kernel/machine.ts'
import { welcomeFor } from '../kernel/session.ts'
import { told } from '../kernel/traces.ts'
import { claimRefreshToken } from '../saved-once/saved-once.ts'
import { accountsOf } from '../store/account-list.ts'
import { guardStore } from '../store/guarded-store.ts'
import { emptySpool, spoolingStore } from '../store/spooling-store.ts'
import { callSafely } from '../support/callback-fault.ts'
import { type Runtime, systemRuntime } from '../support/runtime.ts'
import { createUnderWay } from '../support/under-way.ts'
import { checkOptions, whatCame } from '../support/options.ts'
import { answerNowAndThen, watchOver } from '../watch-over/watch-over.ts'
import { acceptAccessToken, getAccessToken, getTokens, invalidate, refreshNow, servedNow } from './access-token.ts'
import { createEvents } from './event-source.ts'
import {
  accessTokenRows,
  checkedAccessToken,
  checkedAnswer,
  checkedTokens,
  invalidateRows,
  isTokenSet,
  nameOfAccount,
  type ParsedTokenManagerOptions,
  parseTokenManagerOptions,
  refreshRows,
  replacesSession,
} from './options.ts'
import { historyOf, statusOf, unreadHistory } from './status.ts'
import type {
  AccessTokenOptions,
  CurrentTokens,
  RefreshTokenGrant,
  TokenManager,
  TokenManagerOptions,
} from './token-manager.ts'
import { claimTry } from './tries.ts'

/**
 * The token manager over the system's own clocks, timers and randomness. One serves a whole application; any number of processes
 * may share its store.
 *
 * @throws TypeError naming the option that is wrong
 */
export function createTokenManager(options: TokenManagerOptions): TokenManager {
  return manageTokens(options, systemRuntime, refreshProtocol)
}

const contexts = new WeakMap<TokenManager, Context>()

/** What a token manager works with. @throws TypeError for what this copy of the package did not make */
export function contextOf(tokens: TokenManager): Context {
  const context = contexts.get(tokens)
  if (context === undefined) throw new TypeError(`tokens must be what createTokenManager() returned${whatCame(tokens)}`)
  return context
}

export function manageTokens(
  given: TokenManagerOptions,
  runtime: Runtime,
  machine: Machine,
  compose: typeof gatesOf = gatesOf,
): TokenManager {
  const options = parseTokenManagerOptions(given)
  const { issuer } = options
  const base = guardStore(options.store, runtime.limit)
  const work = workOf(options)
  const { track, settled } = work
  const { emit: tellListeners, on } = createEvents()
  const emit: Context['emit'] = (name, event) => {
    tellListeners(name, event)
    if (name !== 'restored') return undefined
    const called = track(watching.call())
    return work.settings.outlivesCalls ? undefined : called
  }
  const spooling =
    options.spool &&
    spoolingStore({
      store: base,
      spool: guardStore(options.spool, runtime.limit),
      runtime,
      tell: (what, account) => void emit(what, { account }),
    })
  const store = spooling ?? base
  const hostOf = (authUrl: string): string => issuer.tokenUrlOf?.(authUrl) ?? authUrl
  const firewall = createSharedFirewall(base, runtime, (auth_url, error) => {
    const { nextAttemptAt } = error
    void emit('client-rejected', { auth_url, error, nextAttemptAt })
  })
  const { requestBudget } = options
  const budget = requestBudget && createRefreshBudget(requestBudget, base, runtime, work.isEnding, hostOf)
  // In this order: nobody waits for a place at a host that lets nobody in.
  const gates: readonly Gate[] = [
    ...(budget ? [budgetGate(budget, { runtime, work, emit })] : []),
    firewallGate(firewall, hostOf),
  ]
  const memory = createAccountMemory(options.cachedAccounts)
  /** For which refused access token of an account those who refresh were called last. */
  const calledFor = new WeakMap<Account, string>()
  const context: Context = { issuer, store, gates: compose(gates), machine, runtime, memory, work, emit }
  const watching = watchOver({
    store: base,
    runtime,
    memory,
    look: async (account) => {
      await run(account, { kind: 'look' }, context)
      void track(refreshIfRefused(account, context).catch(() => undefined))
    },
    isWorthALook: ({ knowledge }) => isWorthALook(knowledge, momentOf(context)),
  })
  if (work.runsBetweenCalls) {
    answerNowAndThen(watching, runtime)
    if (spooling) void emptySpool(spooling, runtime, work)
  }
  const firewallState = firewallStateForSignIns(firewall, work)
  const shareFirewallState: TokenManager['shareFirewallState'] = (other) => {
    if (typeof other?.useFirewallState !== 'function') {
      throw new TypeError(`shareFirewallState takes what createSso() returns${whatCame(other)}`)
    }
    other.useFirewallState(firewallState)
  }
  issuer.useFirewallState?.(firewallState)
  const notIndexed = (account: string, error: StoreError): void => void emit('not-indexed', { account, error })
  const save: TokenManager['save'] = async (account, received, saving) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the next line checks every field
    const tokens = (await issuer.tokenSetOf?.(received)) ?? (received as TokenSet | RefreshTokenGrant)
    const tokenSet = await checkedTokens(tokens, issuer)
    const replaces = replacesSession(tokens, saving)
    if (!isTokenSet(tokens) && !isBare(tokenSet) && (await issuer.isOfAnotherOwner?.(tokenSet, account)) === true)
      throw new OtherOwnerError({ step: 'token-manager', requestSent: false })
    const brought = isTokenSet(tokens) ? undefined : { history: tokens.history }
    const flow = { kind: 'sign-in', tokens: tokenSet, replaces, session: runtime.uniqueId(), brought } as const
    if (!replaces) {
      await run(memory.of(account), { kind: 'look' }, context)
      const welcome = welcomeFor(flow, memory.of(account).knowledge.record, account)
      if (welcome === undefined) return
      if (welcome !== 'welcome') throw welcome
    }
    // Before it is saved: the index then still names the session that is there.
    await claimRefreshToken(account, tokenSet.refresh_token, flow.session, { store: base, runtime, notIndexed })
    await run(memory.of(account), flow, context)
  }
  const forget = async (account: string): Promise<void> => {
    await run(context.memory.of(account), { kind: 'sign-out', session: runtime.uniqueId() }, context)
  }
  const accessTokenOf = (account: string): Promise<string> => servedNow(account, context) ?? firstAccessTokenOf(account)
  const firstAccessTokenOf = async (account: string): Promise<string> => {
    const name = nameOfAccount(account)
    return name === account ? getAccessToken(name, undefined, context) : accessTokenOf(name)
  }
  const tokensWithin = async (call: string, account: string, asked?: AccessTokenOptions): Promise<CurrentTokens> =>
    getTokens(
      nameOfAccount(account),
      parseCallOptions(`${call}(account, { signal })`, asked, undefined, accessTokenRows),
      context,
    )
  const answerWithin = async (account: string, call: AccessTokenOptions): Promise<string> =>
    (await tokensWithin('getAccessToken', account, call)).access_token
  const manager: TokenManager = {
    getAccessToken: (account, call) =>
      told(account, call === undefined ? accessTokenOf(account) : answerWithin(account, call)),
    getTokens: (account, call) => told(account, tokensWithin('getTokens', account, call)),
    save: async (account, tokens, saving) => track(save(nameOfAccount(account), tokens, saving)),
    refresh: async (account, call) => {
      const parsed = parseCallOptions('refresh(account, { signal })', call, undefined, refreshRows)
      return track(refreshNow(nameOfAccount(account), parsed, context))
    },
    invalidate: async (account, accessToken, call = {}) => {
      const how = checkOptions('invalidate', call, invalidateRows)
      const refused = checkedAccessToken(accessToken)
      const name = nameOfAccount(account)
      const works = await track(invalidate(name, refused, how, context))
      if (works || !work.settings.refreshesElsewhere) return works
      // Those who refresh look at what they hold. A call for another account right before it may have been answered.
      const held = memory.of(name)
      const isNews = calledFor.get(held) !== refused
      calledFor.set(held, refused)
      await track(watching.call(isNews))
      return works
    },
    accepted: (account, accessToken) =>
      acceptAccessToken(nameOfAccount(account), checkedAccessToken(accessToken), context),
    status: async (account) => track(statusOf(nameOfAccount(account), context)),
    history: async (account) => track(historyOf(nameOfAccount(account), context).catch(unreadHistory)),
    forget: async (account) => track(forget(nameOfAccount(account))),
    accounts: () => accountsOf(base),
    on,
    claimTry: async (answer) => track(claimTry(checkedAnswer(answer), { store: base, runtime })),
    shareFirewallState,
    settled: async (call) => {
      const { signal } = parseCallOptions('settled({ signal })', call)
      await settled((end) => waitFor(end, signal, context))
    },
  }
  contexts.set(manager, context)
  return manager
}

/** On a server anything may go on after the call that needed it has returned; a function is frozen between two requests. */
function workOf({ background, waitUntil, ...options }: ParsedTokenManagerOptions): Work {
  return {
    ...createUnderWay(),
    settings: {
      refreshAfter: options.refreshAfter,
      minRefreshInterval: options.minRefreshInterval * 1000,
      rotationGrace: options.rotationGrace * 1000,
      outlivesCalls: background,
      refreshesElsewhere: options.refresh === 'elsewhere',
    },
    runsBetweenCalls: background && waitUntil === undefined,
    handOver(work) {
      // The platform is not to hear of a failure: whoever needs the token does.
      const handed = (): Promise<unknown> => work().catch(() => undefined)
      if (waitUntil !== undefined) callSafely('waitUntil', () => waitUntil(handed()))
    },
  }
}
