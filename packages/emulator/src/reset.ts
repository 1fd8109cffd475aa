/** `emulator.reset()`: what one test changed is undone for the next, while the addresses and the tokens stay. */
import { createCounters } from './counters.ts'
import type { Faults } from './faults.ts'
import type { RequestLog } from './request-log.ts'
import type { Service } from './service.ts'

export function resetAll(service: Service, faults: Faults, log: RequestLog): void {
  faults.clear()
  service.firewall.lift()
  service.accounts.reset()
  service.clock.reset()
  Object.assign(service.counters, createCounters())
  log.clear()
}
