/**
 * The web application firewall: who is challenged, and for how long (interface document, "Errors" and "Limits").
 */
import type { Clock } from './clock.ts'
import { changeableOptions } from '../options/option-table.ts'
import type { ServiceRequest } from '../http/service-request.ts'
import { isLenient } from './strictness.ts'
import type { EmulatorSettings, FirewallOptions } from '../options/check-options.ts'

const maxClients = 10_000
/** Only so much of a User-Agent is kept, so that a client can't fill the memory with it. */
const userAgentLength = 256
const browserPattern =
  /\b(?:Mozilla|AppleWebKit|Gecko|Chrome|Chromium|CriOS|Safari|Firefox|FxiOS|Edge?|EdgA|OPR|Opera|MSIE|Trident)\//iu

/** The firewall of a running emulator: who is blocked, and a hand on it. */
export interface Firewall {
  /** Why this request gets the challenge page, if it does. Counts it. */
  blocks(request: ServiceRequest): string | undefined
  /** Challenges everybody from now on, for so many seconds; default those of the option `firewall`, or its default. */
  block(seconds?: number): void
  /** Seconds since the epoch until which everybody is challenged, while that is so. */
  readonly blockedUntil: number | undefined
  /** No block lasts, and every client begins anew. */
  lift(): void
}

/** An address and a fingerprint, so that a person's browser doesn't block the program on the same machine. */
type Client = Pick<ServiceRequest, 'address' | 'userAgent' | 'tlsVersion'>

/** A client that came. Its window and its block are over once the clock has passed their end. */
interface Seen {
  readonly client: Client
  requests: number
  windowEndsAt: number
  blockedUntil: number
}

/** The document's service avoids TLS 1.3 ("Limits"). */
function takesTls13(settings: EmulatorSettings): boolean {
  return isLenient(settings) || settings.service !== 'document' || settings.mintedBy?.tls === 'TLSv1.3'
}

export function createFirewall(clock: Clock, settings: EmulatorSettings): Firewall {
  const rules = (): Required<FirewallOptions> => settings.firewall || changeableOptions.firewall.default
  const allSeen = new Map<string, Seen>()
  let everybodyUntil = -Infinity

  function seenOf(client: Client): Seen {
    const key = JSON.stringify(client)
    const seen = allSeen.get(key) ?? { client, requests: 0, windowEndsAt: -Infinity, blockedUntil: -Infinity }
    allSeen.set(key, seen)
    const [oldest] = allSeen.keys()
    if (allSeen.size > maxClients && oldest !== undefined) allSeen.delete(oldest)
    return seen
  }

  function isExcessive(seen: Seen): boolean {
    if (seen.windowEndsAt <= clock.now()) {
      seen.requests = 0
      seen.windowEndsAt = clock.now() + rules().windowSeconds
    }
    seen.requests += 1
    return seen.requests > (rules().maxRequests ?? Infinity)
  }

  function offence(seen: Seen, userAgent: string): string | undefined {
    const browser = isBrowser(userAgent)
    if (browser && settings.allowBrowsers) return undefined
    if (browser) return 'its User-Agent is a browser’s'
    if (seen.client.tlsVersion === 'TLSv1.3' && !takesTls13(settings)) return 'it came with TLS 1.3'
    if (!isExcessive(seen)) return undefined
    return `more than ${rules().maxRequests} requests in ${rules().windowSeconds} s`
  }

  return {
    blocks({ address, userAgent, tlsVersion }) {
      if (everybodyUntil > clock.now()) return 'everybody is blocked'
      if (!settings.firewall) return undefined
      const seen = seenOf({ address, userAgent: userAgent.slice(0, userAgentLength), tlsVersion })
      if (seen.blockedUntil > clock.now()) return 'this client is blocked'
      const reason = offence(seen, userAgent)
      if (reason !== undefined) seen.blockedUntil = clock.now() + rules().blockSeconds
      return reason
    },
    block(seconds = rules().blockSeconds) {
      if (!(seconds >= 0)) throw new TypeError('block(seconds): seconds must be a number of seconds')
      everybodyUntil = clock.now() + seconds
    },
    get blockedUntil() {
      return everybodyUntil > clock.now() ? everybodyUntil : undefined
    },
    lift() {
      everybodyUntil = -Infinity
      allSeen.clear()
    },
  }
}

/** Whether a User-Agent names a browser. */
export function isBrowser(userAgent: string): boolean {
  return browserPattern.test(userAgent)
}
