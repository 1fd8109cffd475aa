/**
 * An IPv6 address stands in brackets where a port may follow it: in URLs, and nowhere else.
 */

/** The host as a URL has it: `[::1]`. */
export function withBrackets(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}

/** The host as everything else has it: `::1`. */
export function withoutBrackets(hostname: string): string {
  return hostname.replaceAll(/[[\]]/gu, '')
}
