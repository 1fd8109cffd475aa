/**
 * The option `proxy`: the address of an outbound proxy.
 */

/**
 * No error shows it: there may be a password in it.
 *
 * @throws TypeError
 */
export function proxyOf({ proxy }: { readonly proxy?: unknown }): string | undefined {
  if (proxy === undefined) return undefined
  const url = typeof proxy === 'string' && URL.canParse(proxy) ? new URL(proxy) : undefined
  if (typeof proxy !== 'string' || (url?.protocol !== 'http:' && url?.protocol !== 'https:')) {
    throw new TypeError('proxy must be an http or https address')
  }
  if (!isPercentEncoded(url.username) || !isPercentEncoded(url.password)) {
    throw new TypeError('proxy must have its user name and password percent-encoded')
  }
  return proxy
}

function isPercentEncoded(text: string): boolean {
  try {
    return decodeURIComponent(text) !== undefined
  } catch {
    return false
  }
}
