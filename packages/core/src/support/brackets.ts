/**
 * An IPv6 address stands in brackets where a port may follow it: in URLs, and nowhere else.
 */

export function withBrackets(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}

export function withoutBrackets(hostname: string): string {
  return hostname.replaceAll(/[[\]]/gu, '')
}
