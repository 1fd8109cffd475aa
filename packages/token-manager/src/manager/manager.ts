/**
 * The token manager over given surroundings: it checks what callers hand in, and leads each call to the file that tells
 * its story.
 */
import { parseCallOptions } from '../issuer/call-options.ts'
import type { AccessTokenOptions, TokenManager, TokenManagerOptions } from './token-manager.ts'
import { acceptAccessToken, getAccessToken, getTokens, invalidate, refreshNow } from './access-token.ts'
import { accountsOf } from '../store/account-list.ts'
import { createAccountMemory } from '../kernel/account-memory.ts'
import { accountSpelling } from './account-spelling.ts'
import { told } from '../kernel/account-news.ts'
import { backgroundOf } from '../kernel/background.ts'
import {
  checkedAccessToken,
  checkedAccountName,
  checkedAnswer,
  checkedTokens,
  isTokenSet,
  parseAccessTokenOptions,
  parseInvalidateOptions,
  parseRefreshOptions,
  parseTokenManagerOptions,
  replacesSession,
} from './options.ts'
import { firewallStateForSignIns } from '../gates/firewall/sign-in-state.ts'
import { carryAllOver } from '../store/carry-over.ts'
import type { Context } from '../kernel/context.ts'
import { createEvents } from './event-source.ts'
import { waitFor } from '../kernel/in-flight-refresh.ts'
import { manages } from './managed.ts'
import { createRefreshBudget } from '../gates/budget/refresh-budget.ts'
import { isBare } from '../issuer/bare-refresh-token.ts'
import { OtherOwnerError } from '../errors.ts'
import { answerRollCalls } from '../watch-over/roll-call-answer.ts'
import { createRollCall } from '../watch-over/roll-call.ts'
import { run } from '../kernel/driver.ts'
import type { Machine } from '../kernel/machine.ts'
import type { Runtime } from '../support/runtime.ts'
import { refreshFirewall } from '../gates/firewall/refresh-firewall.ts'
import { createSharedFirewall } from '../gates/firewall/shared-firewall.ts'
import { spoolOn, spoolReporter } from '../store/spooling-store.ts'
import { statusOf } from './status.ts'
import { claimTry } from './tries.ts'
import { guardStore } from '../store/guarded-store.ts'
import { whatCame } from '../support/what-came.ts'
import { createUnderWay } from '../support/under-way.ts'

/** @throws TypeError naming the option that is wrong */
export function manageTokens(options: TokenManagerOptions, runtime: Runtime, machine: Machine): TokenManager {
  const { sso, refreshAfter, minRefreshInterval, rotationGrace, cachedAccounts, ...checked } =
    parseTokenManagerOptions(options)
  const store = guardStore(checked.store, runtime.limit)
  const underWay = createUnderWay()
  const hostOf = (authUrl: string): string => sso.tokenUrlOf?.(authUrl) ?? authUrl
  const firewall = createSharedFirewall(store, runtime)
  const budget =
    checked.requestBudget && createRefreshBudget(checked.requestBudget, store, runtime, underWay.isEnding, hostOf)
  const { emit, on } = createEvents()
  const background = backgroundOf(checked.background, checked.waitUntil)
  const memory = createAccountMemory(cachedAccounts)
  const { named, knownNameOf } = accountSpelling(store, memory)
  const context: Context = {
    sso,
    store,
    spool: checked.spool && spoolOn(guardStore(checked.spool, runtime.limit), runtime),
    reportSpool: spoolReporter(),
    settings: {
      refreshAfter,
      minRefreshInterval: minRefreshInterval * 1000,
      rotationGrace: rotationGrace * 1000,
      outlivesCalls: background.outlivesCalls,
    },
    runtime,
    machine,
    emit,
    background,
    memory,
    spelling: { named, knownNameOf },
    firewall: refreshFirewall(firewall, hostOf),
    budget,
    underWay,
    rollCall: createRollCall(),
  }
  if (context.background.runsBetweenCalls) answerRollCalls(context)
  const { track, settled } = underWay
  const firewallState = firewallStateForSignIns(firewall, underWay)
  const shareFirewallState: TokenManager['shareFirewallState'] = (other) => {
    if (typeof other?.useFirewallState !== 'function') {
      throw new TypeError(`shareFirewallState takes what createSso() returns${whatCame(other)}`)
    }
    other.useFirewallState(firewallState)
  }
  sso.useFirewallState?.(firewallState)
  const save: TokenManager['save'] = async (account, tokens, saving) => {
    const tokenSet = await checkedTokens(tokens, sso)
    const replaces = replacesSession(tokens, saving)
    if (!isTokenSet(tokens) && !isBare(tokenSet) && (await sso.isOfAnotherOwner?.(tokenSet, account)) === true)
      throw new OtherOwnerError({ step: 'token-manager', requestSent: false })
    const session = runtime.uniqueId()
    await run(context.memory.of(account), { kind: 'sign-in', tokens: tokenSet, replaces, session }, context)
  }
  const forget = async (account: string): Promise<void> => {
    await run(context.memory.of(account), { kind: 'sign-out', session: runtime.uniqueId() }, context)
  }
  const answerWithin = async (account: string, call: AccessTokenOptions): Promise<string> => {
    const parsed = parseAccessTokenOptions('getAccessToken', call)
    const { access_token } = await named(checkedAccountName(account), (name) => getTokens(name, parsed, context))
    return access_token
  }
  const tokensWithin: TokenManager['getTokens'] = async (account, call) =>
    named(checkedAccountName(account), async (name) =>
      getTokens(name, parseAccessTokenOptions('getTokens', call), context),
    )
  if (context.background.runsBetweenCalls) void carryAllOver(context)
  const manager: TokenManager = {
    getAccessToken: (account, call) =>
      told(account, call === undefined ? getAccessToken(account, call, context) : answerWithin(account, call)),
    getTokens: (account, call) => told(account, tokensWithin(account, call)),
    save: async (account, tokens, saving) =>
      track(named(checkedAccountName(account), (name) => save(name, tokens, saving))),
    refresh: async (account, call) => {
      const parsed = parseRefreshOptions(call)
      return track(named(checkedAccountName(account), (name) => refreshNow(name, parsed, context)))
    },
    invalidate: async (account, accessToken, call) => {
      const how = parseInvalidateOptions(call)
      const refused = checkedAccessToken(accessToken)
      return track(named(checkedAccountName(account), (name) => invalidate(name, refused, how, context)))
    },
    accepted: (account, accessToken) =>
      acceptAccessToken(knownNameOf(checkedAccountName(account)), checkedAccessToken(accessToken), context),
    status: async (account) => track(named(checkedAccountName(account), (name) => statusOf(name, context))),
    forget: async (account) => track(named(checkedAccountName(account), forget)),
    accounts: () => accountsOf(store),
    on,
    claimTry: async (answer) => track(claimTry(checkedAnswer(answer), context)),
    shareFirewallState,
    settled: async (call) => {
      const { signal } = parseCallOptions('settled({ signal })', call)
      await settled((end) => waitFor(end, signal, context))
    },
  }
  return manages(manager, context)
}
