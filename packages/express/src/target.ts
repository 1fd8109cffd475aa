/**
 * The owner API's address: the only place a token is sent to.
 */

/** Plain http never leaves the machine. */
function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/u.test(hostname)
}

/** Whether a token may travel to this address: over https, or over http on a loopback host. */
export function mayCarryToken(url: URL): boolean {
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url))
}

/**
 * The option `target`; default the variable `OWNER_SSO_API_URL`.
 *
 * @throws TypeError where it is not https (or http on a loopback host), or has a user name, query or fragment
 */
export function ownerApiTarget(value: unknown = process.env['OWNER_SSO_API_URL']): URL {
  const url = value instanceof URL ? value : URL.canParse(String(value)) ? new URL(String(value)) : undefined
  if (!url || !mayCarryToken(url)) {
    throw new TypeError('target must be the owner API’s address: https, or http on a loopback host')
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new TypeError('target must have no user name, password, query or fragment')
  }
  if (process.env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0' && !isLoopback(url)) {
    throw new TypeError(
      'target is not on a loopback host and NODE_TLS_REJECT_UNAUTHORIZED is 0: unset it, and give tls.ca',
    )
  }
  return url
}
