/**
 * Every switch of a running emulator in one place: options, accounts, faults, the firewall, and scenarios of them all.
 */
import { endpoints } from '../faults/fault.ts'
import type { Faults } from '../faults/faults.ts'
import type { ChangeableOptions, EmulatorOptions } from '../options/options.ts'
import { checkOptions, parseEmulatorOptions } from '../options/check-options.ts'
import type { Journal } from '../journal/journal.ts'
import { createCounters } from '../state/counters.ts'
import type { ServiceState } from '../state/service-state.ts'
import { isChangeable, isOptionName } from '../options/option-table.ts'
import { checkScenario, scenarios, type Scenario, type ScenarioName } from './scenarios.ts'

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
