/**
 * Which paths of the owner API may be called.
 *
 * A path is rejected unless every server on the way must read it alike: what one of them decodes, joins or strips, another
 * may not have looked at when it compared prefixes.
 */

import type { IncomingMessage } from 'node:http'

/** Segments of plain characters (RFC 3986 section 3.3, without `;` and `%`), none empty, none of dots alone. */
const plainPath = /^(?:\/(?!\.+(?:\/|$))[\w.~!$&'()*+,=:@-]+)*\/?$/u

/** What must not come out of an encoded character: separators, dots, a second encoding, control characters. */
const unsafeDecoded = /[/\\.%;?#\p{Cc}]/u

const visibleAscii = /^[\x21\x22\x24-\x7e]*$/u

/**
 * The path and query of a request's target. A client may send them with the scheme and the host in front (RFC 9112 section 3.2.2);
 * where that host is not the one of `Host`, two servers read two requests: it stays, and is no path.
 */
export function originForm({ url = '', headers }: IncomingMessage): string {
  const [authority] = /^https?:\/\/[^/?#@\\]+(?=\/)/iu.exec(url) ?? []
  if (authority === undefined || !URL.canParse(authority)) return url
  const own = `${authority.slice(0, authority.indexOf(':'))}://${headers.host}`
  return URL.canParse(own) && new URL(own).host === new URL(authority).host ? url.slice(authority.length) : url
}

/** Whether a path can be read in one way only. */
export function isUnambiguous(path: string): boolean {
  if (!path.startsWith('/')) return false
  // What is encoded counts as one plain character for the shape, and is looked at for itself.
  return plainPath.test(path.replaceAll(/(?:%[\da-f]{2})+/giu, 'x')) && decodesSafely(path)
}

function decodesSafely(path: string): boolean {
  for (const [encoded] of path.matchAll(/(?:%[\da-f]{2})+/giu)) {
    try {
      // NFKC, because some servers fold a full-width slash or dot into the plain one.
      if (unsafeDecoded.test(decodeURIComponent(encoded).normalize('NFKC'))) return false
    } catch {
      return false
    }
  }
  return true
}

/** Whether a query is nothing but visible characters without a fragment. */
export function isPlainQuery(query: string): boolean {
  return visibleAscii.test(query)
}

/** Whether a path is one of the allowed ones or below one: `/api/1/` and `/api/1` both allow `/api/1/vehicles`. */
export function isBelow(path: string, prefixes: readonly string[]): boolean {
  return prefixes.some(
    (prefix) =>
      path.startsWith(prefix) && (prefix.endsWith('/') || path.length === prefix.length || path[prefix.length] === '/'),
  )
}
