/**
 * The web application firewall: who is challenged, and for how long (interface document, "Errors" and "Limits").
 */
import type { Clock } from './clock.ts'
import { createExpiringMap } from './expiring-map.ts'
import type { FirewallOptions, Settings } from '../options/options.ts'
import { changeableOptions } from '../options/option-table.ts'
import type { ServiceRequest } from '../http/service-request.ts'
import { isLenient } from './strictness.ts'

const maxClients = 10_000
/** What tells clients apart is at the beginning; a client can't fill the memory with the rest. */
const userAgentLength = 256
const browserPattern =
  /\b(?:Mozilla|AppleWebKit|Gecko|Chrome|Chromium|CriOS|Safari|Firefox|FxiOS|Edge?|EdgA|OPR|Opera|MSIE|Trident)\//iu

/** A client of the last while: its address and fingerprint, so that a person's browser doesn't block the program on the same machine. */
export interface FirewallClient {
  readonly address: string
  readonly userAgent: string
  /** Undefined over plain http. */
  readonly tlsVersion: string | undefined
  /** How many came in the window that is open. */
  readonly requests: number
  /** Seconds since the epoch; undefined while no window is open. */
  readonly windowEndsAt: number | undefined
  /** Seconds since the epoch; undefined while it is not blocked. */
  readonly blockedUntil: number | undefined
}

/** The firewall of a running emulator: who is blocked, and a hand on it. */
export interface Firewall {
  /** Why this request gets the challenge page, if it does. Counts it. */
  blocks(request: ServiceRequest): string | undefined
  /** Challenges everybody from now on, for so many seconds; default those of the option `firewall`, or its default. */
  block(seconds?: number): void
  /** Seconds since the epoch until which everybody is challenged, while that is so. */
  readonly blockedUntil: number | undefined
  /** Those who came lately. */
  clients(): readonly FirewallClient[]
  /** No block lasts, and every client begins anew. */
  lift(): void
}

type Client = Pick<ServiceRequest, 'address' | 'userAgent' | 'tlsVersion'>

export function createFirewall(clock: Clock, settings: Settings): Firewall {
  const rules = (): Required<FirewallOptions> => settings.firewall || changeableOptions.firewall.default
  const blocked = createExpiringMap<{ readonly client: Client; readonly until: number }>({
    clock,
    lifetime: () => rules().blockSeconds,
    max: maxClients,
  })
  const windows = createExpiringMap<{ readonly client: Client; readonly endsAt: number; requests: number }>({
    clock,
    lifetime: () => rules().windowSeconds,
    max: maxClients,
  })
  let everybodyUntil = -Infinity

  function isExcessive(client: Client): boolean {
    const key = keyOf(client)
    const current = windows.get(key) ?? { client, endsAt: clock.now() + rules().windowSeconds, requests: 0 }
    if (current.requests === 0) windows.set(key, current)
    current.requests += 1
    return current.requests > (rules().maxRequests ?? Infinity)
  }

  function offence(client: Client, userAgent: string): string | undefined {
    const browser = isBrowser(userAgent)
    if (browser && isAllowed(userAgent, settings.allowBrowsers)) return undefined
    if (browser) return 'its User-Agent is a browser’s'
    if (client.tlsVersion === 'TLSv1.3' && !isLenient(settings) && settings.mintedBy?.tls !== 'TLSv1.3')
      return 'it came with TLS 1.3'
    if (!isExcessive(client)) return undefined
    return `more than ${rules().maxRequests} requests in ${rules().windowSeconds} s`
  }

  return {
    blocks({ address, userAgent, tlsVersion }) {
      if (everybodyUntil > clock.now()) return 'everybody is blocked'
      if (!settings.firewall) return undefined
      const client = { address, userAgent: userAgent.slice(0, userAgentLength), tlsVersion }
      if (blocked.get(keyOf(client))) return 'this client is blocked'
      const reason = offence(client, userAgent)
      if (reason !== undefined) blocked.set(keyOf(client), { client, until: clock.now() + rules().blockSeconds })
      return reason
    },
    block(seconds = rules().blockSeconds) {
      if (!(seconds >= 0)) throw new TypeError('block(seconds): seconds must be a number of seconds')
      everybodyUntil = clock.now() + seconds
    },
    get blockedUntil() {
      return everybodyUntil > clock.now() ? everybodyUntil : undefined
    },
    clients() {
      const opened = new Map([...windows.values()].map((window) => [keyOf(window.client), window]))
      const held = new Map([...blocked.values()].map((block) => [keyOf(block.client), block]))
      const all = [...opened.values(), ...held.values()].map(({ client }) => [keyOf(client), client] as const)
      return [...new Map(all)].map(([key, client]) => ({
        ...client,
        requests: opened.get(key)?.requests ?? 0,
        windowEndsAt: opened.get(key)?.endsAt,
        blockedUntil: held.get(key)?.until,
      }))
    },
    lift() {
      everybodyUntil = -Infinity
      blocked.clear()
      windows.clear()
    },
  }
}

function keyOf({ address, userAgent, tlsVersion }: Client): string {
  return JSON.stringify([address, userAgent, tlsVersion])
}

/** Whether a User-Agent names a browser. */
export function isBrowser(userAgent: string): boolean {
  return browserPattern.test(userAgent)
}

function isAllowed(userAgent: string, allowBrowsers: boolean | RegExp): boolean {
  return typeof allowBrowsers === 'boolean' ? allowBrowsers : userAgent.search(allowBrowsers) !== -1
}
