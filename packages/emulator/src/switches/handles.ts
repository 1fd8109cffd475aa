/**
 * The handles of a running emulator: every switch of it in one place, and those that reach into the service itself.
 */
import { endpoints } from '../faults/fault.ts'
import type { Faults } from '../faults/faults.ts'
import { checkOptions, parseEmulatorOptions, type EmulatorOptions } from '../options/check-options.ts'
import { isChangeable, isOptionName } from '../options/option-table.ts'
import type { Journal } from '../journal/journal.ts'
import { signInByHand } from '../service/sign-in-by-hand.ts'
import type { Account } from '../state/accounts.ts'
import { createCounters } from '../state/counters.ts'
import type { ServiceState } from '../state/service-state.ts'
import { isRegistered } from '../state/strictness.ts'
import { checkNames } from '../support/known-names.ts'
import type { Addresses, Emulator } from './emulator.ts'
import { checkScenario, scenarios, type Scenario } from './scenarios.ts'

export type Handles = Omit<Emulator, keyof Addresses | 'ca' | 'jwks' | 'close' | typeof Symbol.asyncDispose>

export function createHandles(
  given: EmulatorOptions,
  service: ServiceState,
  faults: Faults,
  journal: Journal,
  ca: string | undefined,
): Handles {
  const { accounts, accessTokens, refreshTokens, instances, clock, counters, firewall } = service
  let current: EmulatorOptions = given

  function known(identity: string): Account {
    if (typeof identity !== 'string') throw new TypeError('identity must be the e-mail of an account')
    const account = accounts.find(identity)
    if (!account) throw new TypeError(`The emulator has no account ${identity}`)
    return account
  }

  function apply(options: EmulatorOptions): void {
    Object.assign(service.settings, parseEmulatorOptions(options))
    current = options
  }

  return {
    accounts: accounts.all,
    account: known,
    clock,
    counters,
    firewall,
    requests: journal.requests,
    once: faults.once,
    always: faults.always,
    failures: faults.failures,
    change(options) {
      checkOptions(options)
      const fixed = Object.keys(options).find((name) => isOptionName(name) && !isChangeable(name))
      if (fixed !== undefined) throw new TypeError(`Option ${fixed} can't change while the emulator runs`)
      apply({ ...current, ...options })
    },
    applyScenario(name) {
      checkScenario(name)
      const { options = {}, once = {}, always = {}, blocked, ended }: Scenario = scenarios[name]
      apply({ ...current, ...options })
      for (const endpoint of endpoints) {
        if (once[endpoint]) faults.once(endpoint, once[endpoint])
        if (always[endpoint]) faults.always(endpoint, always[endpoint])
      }
      if (blocked) firewall.block()
      if (ended) {
        for (const account of accounts.all) refreshTokens.expire(account)
        accessTokens.revoke(() => true)
      }
    },
    reset() {
      apply(given)
      faults.clear()
      firewall.lift()
      accounts.reset()
      clock.reset()
      Object.assign(counters, createCounters())
      journal.clear()
    },
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
      const account = known(options.identity ?? hinted ?? accounts.all[0]?.identity ?? '')
      const { credential = account.credential, passcode = account.factors[0]?.passcode(clock.now()) ?? '' } = options
      return signInByHand(service, url, { identity: account.identity, credential, passcode }, ca)
    },
    revokeAccessTokens(identity) {
      const account = known(identity)
      return accessTokens.revoke((token) => token.account === account)
    },
    expireRefreshTokens: (identity) => refreshTokens.expire(known(identity)),
  }
}
