/**
 * Addresses: where secrets may be sent, and the brackets of IPv6, which stand in URLs and nowhere else.
 */

/** Whether an address is on this machine: the only place that plain http may be spoken to. */
export function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/u.test(hostname)
}

/** Whether passwords and tokens may travel to an address: over https, or over http on a loopback host. */
export function mayCarrySecrets(url: URL): boolean {
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url))
}

/**
 * Why nothing secret may be sent to an address now: it is not on a loopback host, and the process was told to trust anybody.
 * Asked before every request that carries a credential or a token, and never remembered: Node reads the variable at each connection.
 *
 * @returns the rest of a sentence that begins with what the address is; `undefined` where nothing is wrong
 */
export function verificationProblem(url: URL): string | undefined {
  if (isLoopback(url) || process.env['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0') return undefined
  return 'is not on a loopback host and NODE_TLS_REJECT_UNAUTHORIZED is 0: unset it, and give tls.ca for a private CA'
}

/** The host as a URL has it: `[::1]`. */
export function withBrackets(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}

/** The host as everything else has it: `::1`. */
export function withoutBrackets(hostname: string): string {
  return hostname.replaceAll(/[[\]]/gu, '')
}
