/**
 * Every switch of a running emulator in one place: options, accounts, faults, the firewall, and scenarios of them all.
 */
import { endpoints } from '../faults/fault.ts'
import type { Faults } from '../faults/faults.ts'
import {
  checkOptions,
  parseEmulatorOptions,
  type ChangeableOptions,
  type EmulatorOptions,
} from '../options/check-options.ts'
import type { Journal } from '../journal/journal.ts'
import { createCounters } from '../state/counters.ts'
import type { ServiceState } from '../state/service-state.ts'
import { isChangeable, isOptionName } from '../options/option-table.ts'
import { checkScenario, scenarios, type Scenario, type ScenarioName } from './scenarios.ts'
import { checkNames } from '../support/known-names.ts'
import { accountView, type Account } from '../state/accounts.ts'
import type { Addresses, Emulator } from './emulator.ts'
import { signInByHand } from '../service/sign-in-by-hand.ts'
import { isRegistered } from '../state/strictness.ts'

export type Switchboard = ReturnType<typeof createSwitchboard>

export function createSwitchboard(given: EmulatorOptions, service: ServiceState, faults: Faults, journal: Journal) {
  const applied = new Set<ScenarioName>()
  let current: EmulatorOptions = given

  function apply(options: EmulatorOptions): void {
    Object.assign(service.settings, parseEmulatorOptions(options))
    current = options
  }

  function setAll({ options = {}, once = {}, always = {}, blocked, ended }: Scenario): void {
    apply({ ...current, ...options })
    for (const endpoint of endpoints) {
      if (once[endpoint]) faults.once(endpoint, once[endpoint])
      if (always[endpoint]) faults.always(endpoint, always[endpoint])
    }
    if (blocked) service.firewall.block()
    if (ended) {
      for (const account of service.accounts.all) service.refreshTokens.expire(account)
      service.accessTokens.revoke(() => true)
    }
  }

  return {
    /** Scenarios that were applied since the start or the last reset. */
    applied: applied as ReadonlySet<ScenarioName>,
    change(options: ChangeableOptions): void {
      checkOptions(options)
      const fixed = Object.keys(options).find((name) => isOptionName(name) && !isChangeable(name))
      if (fixed !== undefined) throw new TypeError(`Option ${fixed} can't change while the emulator runs`)
      apply({ ...current, ...options })
    },
    applyScenario(name: ScenarioName): void {
      checkScenario(name)
      setAll(scenarios[name])
      applied.add(name)
    },
    reset(): void {
      apply(given)
      faults.clear()
      service.firewall.lift()
      service.accounts.reset()
      service.accounts.forget()
      service.clock.reset()
      applied.clear()
      Object.assign(service.counters, createCounters())
      journal.clear()
    },
  }
}

export type Handles = Omit<Emulator, keyof Addresses | 'ca' | 'jwks' | 'close' | typeof Symbol.asyncDispose>

export function createHandles(
  service: ServiceState,
  faults: Faults,
  journal: Journal,
  switches: Switchboard,
  ca: string | undefined,
): Handles {
  const { accounts, accessTokens, refreshTokens, instances, clock, counters, firewall } = service
  const known = (identity: string): Account => {
    if (typeof identity !== 'string') throw new TypeError('identity must be the e-mail of an account')
    const account = accounts.find(identity)
    if (!account) throw new TypeError(`The emulator has no account ${identity}`)
    return account
  }
  const views = new Map(accounts.all.map((account) => [account, accountView(account, clock)]))
  return {
    accounts: [...views.values()],
    account: (identity) => {
      const account = known(identity)
      return views.get(account) ?? accountView(account, clock)
    },
    clock,
    counters,
    firewall,
    requests: journal.requests,
    change: switches.change,
    applyScenario: switches.applyScenario,
    once: faults.once,
    always: faults.always,
    failures: faults.failures,
    async issueTokens(identity) {
      const account = known(identity)
      const audience = isRegistered(service.settings) ? service.ownerApiUrl : undefined
      const tokens = await refreshTokens.signIn(account, instances[account.region], audience)
      journal.adopt(account.identity, { ...tokens })
      return tokens
    },
    async signInByHand(url, options = {}) {
      checkNames('option', '', options, ['identity', 'credential', 'passcode'])
      const hinted = new URL(url).searchParams.get('login_hint')
      const identity = options.identity ?? hinted ?? accounts.all[0]?.identity ?? ''
      const account = accounts.find(identity)
      const [factor] = account?.factors ?? []
      const person = {
        identity,
        credential: options.credential ?? known(identity).credential,
        passcode: options.passcode ?? factor?.passcode(clock.now()) ?? '',
      }
      return signInByHand(service, url, person, ca)
    },
    revokeAccessTokens(identity) {
      const account = known(identity)
      return accessTokens.revoke((token) => token.account === account)
    },
    reset: switches.reset,
    expireRefreshTokens: (identity) => refreshTokens.expire(known(identity)),
  }
}
