/**
 * `emulator.reset()`: what one test changed is undone for the next, while the addresses and the tokens stay.
 */
import { createCounters } from './counters.ts'
import type { Journal } from './journal/journal.ts'
import type { Service } from './service.ts'
import type { Switchboard } from './switches/switchboard.ts'

export function resetAll(service: Service, switches: Switchboard, journal: Journal): void {
  switches.reset()
  service.accounts.forget()
  service.clock.reset()
  Object.assign(service.counters, createCounters())
  journal.clear()
}
