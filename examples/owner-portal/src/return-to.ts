/**
 * Where to go after a sign-in: a path of this portal, and nothing else (reliability statement S57: no open redirect).
 */

const anyOrigin = 'http://portal.invalid'

/** Characters that browsers drop or turn into slashes before they read an address. */
const misleading = /[\\\s\p{Cc}\p{Cf}]/u

/** `value` as a path with its query, or `/` where it is anything else: another origin, `//host`, `/\host`, control characters. */
export function returnTo(value: unknown): string {
  if (typeof value !== 'string' || value.length > 512 || !value.startsWith('/') || misleading.test(value)) return '/'
  if (!URL.canParse(value, anyOrigin)) return '/'
  const { origin, pathname, search } = new URL(value, anyOrigin)
  // `/.//host` normalises to `//host`.
  if (origin !== anyOrigin || pathname.startsWith('//')) return '/'
  // Back to a sign-in page would be a circle.
  return /^\/sign-(?:in|out)(?:\/|$)/u.test(pathname) ? '/' : pathname + search
}
