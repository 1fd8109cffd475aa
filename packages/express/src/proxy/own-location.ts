/**
 * Where a redirect of the owner API leads, as the caller has to ask for it here.
 */
import { isBelow, isUnambiguous } from './request-path.ts'

export interface LocationRules {
  readonly target: URL
  readonly basePath: string
  readonly paths: readonly string[]
}

/**
 * A `Location` within the offered part of the owner API, as a path under the proxy's own mount point. Anything else is
 * `undefined`: the caller is not sent to another host, nor to a path that would be rejected.
 *
 * @param value - each character is a byte
 * @param requestPath - path of the owner API that was asked for: what a relative location is relative to
 * @param mountPath - where the application has put the proxy (Express's `req.baseUrl`), without a slash at its end
 */
export function ownLocation(
  value: string,
  requestPath: string,
  mountPath: string,
  { target, basePath, paths }: LocationRules,
): string | undefined {
  const location = value.replaceAll(/[\x80-\xff]/gu, escaped)
  const base = new URL(requestPath, target)
  if (!URL.canParse(location, base.href)) return undefined
  const { origin, pathname, search } = new URL(location, base)
  const isOffered = origin === target.origin && isUnambiguous(pathname) && isBelow(pathname, paths)
  if (!isOffered || !pathname.startsWith(`${basePath}/`)) return undefined
  return mountPath + pathname.slice(basePath.length) + search
}

/** The byte itself: the URL standard would take it for a character, and write two. */
function escaped(byte: string): string {
  return `%${byte.charCodeAt(0).toString(16).toUpperCase()}`
}
