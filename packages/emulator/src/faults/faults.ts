/**
 * The faults that are ordered for each endpoint, taken by the next request or by all.
 */
import type { Counters } from '../state/counters.ts'
import type { ServiceResponse } from '../http/service-response.ts'
import { transformedResponse, type Transform, type TransformFailure } from './transform.ts'
import { checkEndpoint, checkFault, type Endpoint, type Fault } from './fault.ts'

export interface TakenFault extends Fault {
  readonly transform?: (response: ServiceResponse) => Promise<ServiceResponse>
}

export type Faults = ReturnType<typeof createFaults>

/** The first ones tell what is wrong. */
const maxFailures = 100
/** More are a mistake. */
const maxWaiting = 10_000

/** A fault that makes the firewall answer counts as a challenge. */
export function createFaults(counters: Counters) {
  const next = new Map<Endpoint, (Fault | Transform)[]>()
  const standing = new Map<Endpoint, Fault | Transform>()
  const failures: TransformFailure[] = []

  function taken(fault: Fault | Transform, where: string): TakenFault {
    if (typeof fault !== 'function') return fault
    return {
      transform: (response) =>
        transformedResponse(response, fault, (error) => {
          if (failures.length < maxFailures) failures.push({ where, error })
        }),
    }
  }

  return {
    failures,
    /** The next request to the endpoint meets the fault; several wait in line. */
    once: (endpoint: Endpoint, fault: Fault | Transform): void => {
      checkEndpoint(endpoint)
      checkFault(fault)
      const waiting = next.get(endpoint) ?? []
      if (waiting.length >= maxWaiting) throw new TypeError(`Too many faults wait at ${endpoint}: ${maxWaiting}`)
      waiting.push(fault)
      next.set(endpoint, waiting)
    },
    /** Every request does, except those that `once` waits for; undefined ends it. */
    always: (endpoint: Endpoint, fault: Fault | Transform | undefined): void => {
      checkEndpoint(endpoint)
      if (fault === undefined) {
        standing.delete(endpoint)
        return
      }
      checkFault(fault)
      standing.set(endpoint, fault)
    },
    take(endpoint: Endpoint): TakenFault {
      const waiting = next.get(endpoint)?.shift()
      const verb = waiting === undefined ? 'always' : 'once'
      const fault = taken(waiting ?? standing.get(endpoint) ?? {}, `${verb}('${endpoint}', …)`)
      if (fault.firewall) counters.challenges += 1
      return fault
    },
    ordered: (endpoint: Endpoint) => ({ always: standing.get(endpoint), once: next.get(endpoint) ?? [] }),
    clear(endpoint?: Endpoint): void {
      for (const orders of [next, standing]) {
        if (endpoint === undefined) orders.clear()
        else orders.delete(endpoint)
      }
    },
  }
}
