/**
 * The token manager over given surroundings: it checks what callers hand in, and leads each call to the file that tells
 * its story.
 */
import { parseCallOptions, type CallOptions } from '../issuer/call-options.ts'
import type { TokenManager, TokenManagerOptions } from '../tokens/token-manager.ts'
import { getAccessToken, getTokens, invalidate, refreshNow } from './access-token.ts'
import { accountsOf } from './account-list.ts'
import { createAccountMemory } from './account-memory.ts'
import { backgroundOf } from './background.ts'
import {
  checkedAccountName,
  checkedTokens,
  parseRefreshOptions,
  parseTokenManagerOptions,
  replacesSession,
} from '../tokens/options.ts'
import { firewallStateForSignIns } from '../firewall/shared-firewall-state.ts'
import { beginCarryingOver, dropSpooled } from './carry-over.ts'
import type { Context } from './context.ts'
import { createEvents } from './events.ts'
import { waitFor } from './in-flight-refresh.ts'
import { manages } from './managed.ts'
import { createRefreshBudget } from '../budget/refresh-budget.ts'
import { answerRollCalls } from './roll-call-answer.ts'
import { createRollCall } from './roll-call.ts'
import type { Rules } from './rules.ts'
import type { Runtime } from './runtime.ts'
import { signIn, signOut } from './session.ts'
import { createSharedBreaker } from '../firewall/shared-breaker.ts'
import { spoolOn, spoolReporter } from './spool.ts'
import { statusOf } from './status.ts'
import { claimTry } from './tries.ts'
import { guardStore } from './guarded-store.ts'
import { createUnderWay } from './under-way.ts'

/** @throws TypeError naming the option that is wrong */
export function manageTokens(options: TokenManagerOptions, runtime: Runtime, rules: Rules): TokenManager {
  const { sso, refreshAfter, minRefreshInterval, rotationGrace, cachedAccounts, ...checked } =
    parseTokenManagerOptions(options)
  const store = guardStore(checked.store, runtime.limit)
  const underWay = createUnderWay()
  const budget = checked.requestBudget && createRefreshBudget(checked.requestBudget, store, runtime, underWay.isEnding)
  const { emit, on } = createEvents()
  const context: Context = {
    sso,
    store,
    spool: checked.spool && spoolOn(guardStore(checked.spool, runtime.limit), runtime),
    reportSpool: spoolReporter(),
    refreshAfter,
    minRefreshInterval: minRefreshInterval * 1000,
    rotationGrace: rotationGrace * 1000,
    runtime,
    rules,
    emit,
    background: backgroundOf(checked.background, checked.waitUntil),
    memory: createAccountMemory(cachedAccounts),
    breaker: createSharedBreaker(store, runtime),
    budget,
    underWay,
    rollCall: createRollCall(),
  }
  if (context.background.runsBetweenCalls) answerRollCalls(context)
  const { track, settled } = underWay
  const firewallState = firewallStateForSignIns(context)
  const shareFirewallState: TokenManager['shareFirewallState'] = (other) => other.useFirewallState(firewallState)
  sso.useFirewallState?.(firewallState)
  /** A sign-in or a sign-out, and the end of what a refresh before it left in the spool. */
  const replaced = async (account: string, done: Promise<boolean | void>): Promise<void> => {
    if ((await done) !== false) await dropSpooled(account, context)
  }
  const save: TokenManager['save'] = async (account, tokens, saving) => {
    const tokenSet = await checkedTokens(tokens, sso)
    await replaced(account, signIn(account, tokenSet, replacesSession(tokens, saving), context))
  }
  const answerWithin = async (account: string, call: CallOptions): Promise<string> =>
    getAccessToken(account, parseCallOptions('getAccessToken(account, { signal })', call), context)
  if (context.background.runsBetweenCalls) beginCarryingOver(context)
  const manager: TokenManager = {
    getAccessToken: (account, call) =>
      call === undefined ? getAccessToken(account, call, context) : answerWithin(account, call),
    getTokens: async (account, call) =>
      getTokens(checkedAccountName(account), parseCallOptions('getTokens(account, { signal })', call), context),
    save: async (account, tokens, saving) => track(save(checkedAccountName(account), tokens, saving)),
    refresh: async (account, call) => refreshNow(checkedAccountName(account), parseRefreshOptions(call), context),
    invalidate: async (account, accessToken) => track(invalidate(checkedAccountName(account), accessToken, context)),
    status: async (account) => track(statusOf(checkedAccountName(account), context)),
    forget: async (account) => track(replaced(account, signOut(checkedAccountName(account), context))),
    accounts: () => accountsOf(store),
    on,
    claimTry: async (answer) => track(claimTry(answer, context)),
    shareFirewallState,
    shareBlocksWith: shareFirewallState,
    settled: async (call) => {
      const { signal } = parseCallOptions('settled({ signal })', call)
      await settled((end) => waitFor(end, signal, context))
    },
  }
  return manages(manager, context)
}
