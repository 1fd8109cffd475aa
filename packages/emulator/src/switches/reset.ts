/**
 * `emulator.reset()`: what one test changed is undone for the next, while the addresses and the tokens stay.
 */
import { createCounters } from '../service/counters.ts'
import type { Journal } from '../journal/journal.ts'
import type { ServiceState } from '../service/service-state.ts'
import type { Switchboard } from './switchboard.ts'

export function resetAll(service: ServiceState, switches: Switchboard, journal: Journal): void {
  switches.reset()
  service.accounts.forget()
  service.clock.reset()
  Object.assign(service.counters, createCounters())
  journal.clear()
}
