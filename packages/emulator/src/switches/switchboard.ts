/**
 * Every switch of a running emulator in one place: options, accounts, faults, the firewall, and scenarios of them all.
 */
import { endpoints } from '../faults/fault.ts'
import type { Faults } from '../faults/faults.ts'
import type { ChangeableOptions, EmulatorOptions } from '../options/options.ts'
import { checkOptions, parseEmulatorOptions } from '../options/check-options.ts'
import type { TlsVersions } from '../http/listeners.ts'
import type { Journal } from '../journal/journal.ts'
import { createCounters } from '../state/counters.ts'
import type { ServiceState } from '../state/service-state.ts'
import { switchAccount } from '../options/account-switches.ts'
import { isChangeable, isOptionName } from '../options/option-table.ts'
import { checkScenario, scenarios, type Scenario, type ScenarioName } from './scenarios.ts'

export interface Switchboard {
  /** Scenarios that were applied since the start or the last reset. */
  readonly applied: ReadonlySet<ScenarioName>
  /**
   * Changes options from the next request on; one that is undefined goes back to its default. What has begun (a session, a code,
   * a token) goes on as it began.
   *
   * @throws {TypeError} An option is unknown or wrong or can't change; the message names it, and nothing has changed.
   */
  readonly change: (options: ChangeableOptions) => void
  /**
   * Sets the switches of a scenario, on top of what is set.
   *
   * @throws {TypeError} There is no such scenario.
   */
  readonly applyScenario: (name: ScenarioName) => void
  /** All is as at the start, but sessions, codes and tokens live on. */
  readonly reset: () => void
}

/** `offerTls` tells the sockets which versions new connections may have. */
export function createSwitchboard(
  given: EmulatorOptions,
  service: ServiceState,
  faults: Faults,
  journal: Journal,
  offerTls: (versions: TlsVersions) => void,
): Switchboard {
  const applied = new Set<ScenarioName>()
  let current: EmulatorOptions = given

  function apply(options: EmulatorOptions): void {
    const settings = parseEmulatorOptions(options)
    current = options
    Object.assign(service.settings, settings)
    offerTls(settings)
  }

  function setAll({ options = {}, accounts = {}, once = {}, always = {}, blocked, ended }: Scenario): void {
    apply({ ...current, ...options })
    for (const account of service.accounts.all) switchAccount(account, accounts)
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
    applied,
    change(options) {
      checkOptions(options)
      const fixed = Object.keys(options).find((name) => isOptionName(name) && !isChangeable(name))
      if (fixed !== undefined) throw new TypeError(`Option ${fixed} can't change while the emulator runs`)
      apply({ ...current, ...options })
    },
    applyScenario(name) {
      checkScenario(name)
      setAll(scenarios[name])
      applied.add(name)
    },
    reset() {
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
