/**
 * Keeps out pages in a browser, by whichever name they reach the broker.
 */
import { isIP } from 'node:net'
import type { IncomingMessage } from 'node:http'
import type { BrokerRejectionCode } from './rejection.ts'

/** Names that a broker goes by, as they are compared: in lower case, and without the dot that may end them. */
export function namesOf(hosts: readonly string[]): ReadonlySet<string> {
  return new Set(hosts.map((host) => host.toLowerCase().replace(/\.$/u, '')))
}

/**
 * A page can make its own name lead to the broker's address (DNS rebinding), and so be of the same origin. It can do that
 * with a name alone: a number leads to itself.
 *
 * @param hosts - names that the broker goes by beside `localhost`: `namesOf`
 */
export function isNamedOtherwise({ headers, httpVersion }: IncomingMessage, hosts: ReadonlySet<string>): boolean {
  // The last one is HTTP/2's (RFC 9113 section 8.3.1).
  const named = [headers.host, headers[':authority']].filter((name) => name !== undefined)
  // Load balancers ask so for a broker's health. A browser never does: it always says the name.
  if (named.length === 0) return httpVersion !== '1.0'
  return !named.every((name) => isOwnHost(String(name), hosts))
}

export function guardRejection(request: IncomingMessage, hosts: ReadonlySet<string>): BrokerRejectionCode | undefined {
  if (isNamedOtherwise(request, hosts)) return 'ERR_BROKER_HOST'
  return isOfBrowserPage(request.headers) ? 'ERR_BROKER_CROSS_SITE' : undefined
}

/** Whether a `Host` is a number, `localhost`, or one of `hosts` (in lower case), on whatever port, with a dot at its end or without. */
export function isOwnHost(host: string, hosts: ReadonlySet<string>): boolean {
  const [, name = ''] = /^(\[[\da-f:.]+\]|[^\s:/?#@[\]\\]+)(?::\d{1,5})?$/iu.exec(host) ?? []
  const plain = name.replaceAll(/[[\]]|\.$/gu, '').toLowerCase()
  return isIP(plain) !== 0 || plain === 'localhost' || hosts.has(plain)
}

/**
 * A browser tells where a request comes from, and a page can't prevent it. An address that a person typed has `Sec-Fetch-Site:
 * none`.
 */
function isOfBrowserPage({ origin, 'sec-fetch-site': site }: IncomingMessage['headers']): boolean {
  return origin !== undefined || (site !== undefined && site !== 'none')
}
