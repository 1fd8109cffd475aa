/**
 * Who is no program that was meant to call: pages of a browser, whichever name they reach the broker by.
 */
import { isIP } from 'node:net'
import type { IncomingMessage } from 'node:http'
import type { BrokerRefusalCode } from './refusal.ts'

/**
 * A page can make its own name lead to the broker's address (DNS rebinding), and so be of the same origin. It can do that
 * with a name alone: a number leads to itself.
 *
 * @param hosts - names that the broker goes by beside `localhost`, in lower case
 */
export function guardRefusal(
  { headers, rawHeaders }: IncomingMessage,
  hosts: ReadonlySet<string>,
): BrokerRefusalCode | undefined {
  const named = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host')
  if (named.length > 1) return 'ERR_BROKER_MALFORMED_REQUEST'
  if (!isOwnHost(headers.host, hosts)) return 'ERR_BROKER_HOST'
  return isOfBrowserPage(headers) ? 'ERR_BROKER_CROSS_SITE' : undefined
}

/** Whether a `Host` is a number, `localhost`, or one of `hosts` (in lower case), on whatever port. */
export function isOwnHost(host: string | undefined, hosts: ReadonlySet<string>): boolean {
  const [, name = ''] = /^(\[[\da-f:.]+\]|[^\s:/?#@[\]\\]+)(?::\d{1,5})?$/iu.exec(host ?? '') ?? []
  const plain = name.replaceAll(/[[\]]/gu, '').toLowerCase()
  return isIP(plain) !== 0 || plain === 'localhost' || hosts.has(plain)
}

/** A browser tells where a request comes from, and a page can't prevent it. What a person opens by hand comes from nowhere. */
function isOfBrowserPage({ origin, 'sec-fetch-site': site }: IncomingMessage['headers']): boolean {
  return origin !== undefined || (site !== undefined && site !== 'none')
}
