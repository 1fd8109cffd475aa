/** Faults that tests order for an endpoint: plain data, taken by the next request or by all. */

import type { Counters } from './counters.ts'

export type Endpoint =
  | 'login-page'
  | 'form-submission'
  | 'token'
  | 'refresh'
  | 'mfa-factors'
  | 'mfa-verify'
  | 'mfa-backup-code'
  | 'owner-api'

/** Several fields combine, as far as that makes sense. */
export interface Fault {
  /** Milliseconds that the answer waits. */
  readonly delay?: number
  /** The answer waits for this promise, whatever it comes to. */
  readonly hold?: Promise<unknown>
  /**
   * Whether `delay`, `hold` and an answer in place strike `before` the service does anything (default) or `after` it
   * did: a refresh token is spent then.
   */
  readonly commit?: 'before' | 'after'
  /** The connection is cut: before the service does anything, after that (or only our side of it ended), or at this point of the answer. */
  readonly drop?: 'before-commit' | 'after-commit' | 'half-close' | 'mid-headers' | 'mid-body' | 'after-body'
  /** Answers this in place: status (default 200), headers, and a body, which is sent as JSON unless it is a string. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: unknown
  /** Answers the challenge page (or the one that only runs a script) with `status`, default 403. */
  readonly firewall?: boolean | 'script'
  /** The body comes byte by byte, so many milliseconds apart; with `dripFrom: 'headers'` the headers as well. */
  readonly drip?: number
  readonly dripFrom?: 'headers' | 'body'
  /** The body never ends. */
  readonly endless?: boolean
  /** So many interim 1xx answers come first. */
  readonly interim?: number
}

export interface Faults {
  /** The next request to the endpoint meets the fault; several wait in line. */
  readonly once: (endpoint: Endpoint, fault: Fault) => void
  /** Every request does, except those that `once` waits for; undefined ends it. */
  readonly always: (endpoint: Endpoint, fault: Fault | undefined) => void
  readonly take: (endpoint: Endpoint) => Fault
  /** None waits and none stands from now on. */
  readonly clear: () => void
}

const ENDPOINTS: ReadonlySet<string> = new Set<Endpoint>([
  'login-page',
  'form-submission',
  'token',
  'refresh',
  'mfa-factors',
  'mfa-verify',
  'mfa-backup-code',
  'owner-api',
])
const FIELDS: Readonly<Record<keyof Fault, true>> = {
  delay: true,
  hold: true,
  commit: true,
  drop: true,
  status: true,
  headers: true,
  body: true,
  firewall: true,
  drip: true,
  dripFrom: true,
  endless: true,
  interim: true,
}

/** A fault that makes the firewall answer counts as a challenge. */
export function createFaults(counters: Counters): Faults {
  const next = new Map<Endpoint, Fault[]>()
  const standing = new Map<Endpoint, Fault>()
  return {
    once(endpoint, fault) {
      check(endpoint, fault)
      next.set(endpoint, [...(next.get(endpoint) ?? []), fault])
    },
    always(endpoint, fault) {
      check(endpoint, fault ?? {})
      if (fault) standing.set(endpoint, fault)
      else standing.delete(endpoint)
    },
    take(endpoint) {
      const fault = next.get(endpoint)?.shift() ?? standing.get(endpoint) ?? {}
      if (fault.firewall) counters.challenges += 1
      return fault
    },
    clear() {
      next.clear()
      standing.clear()
    },
  }
}

function check(endpoint: string, fault: Fault): void {
  if (!ENDPOINTS.has(endpoint)) throw new TypeError(`Unknown endpoint ${endpoint}: one of ${[...ENDPOINTS].join(', ')}`)
  const unknown = Object.keys(fault).find((name) => !Object.hasOwn(FIELDS, name))
  if (unknown !== undefined) throw new TypeError(`Unknown field ${unknown} of a fault`)
}
