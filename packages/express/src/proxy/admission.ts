/**
 * Whether a request may be forwarded at all, derived from its first lines.
 */
import type { IncomingMessage } from 'node:http'
import type { Answer } from '../answers/problem.ts'
import { forwardedMethods, ownerApiErrorAnswer } from '../answers/owner-api-error.ts'
import { asksForUpgrade } from '../door/entry.ts'
import { property } from '../property.ts'
import { isBelow, isPlainQuery, isUnambiguous, originForm } from './request-path.ts'

export interface AdmissionRules {
  /** Path of the owner API's address, without a slash at its end. */
  readonly basePath: string
  /** Prefixes that a path of the owner API must have. */
  readonly paths: readonly string[]
  readonly trustedOrigins: ReadonlySet<string>
}

/** The path and query to ask the owner API for, or the answer to a request that is not forwarded. */
export function admission(request: IncomingMessage, rules: AdmissionRules): string | Answer {
  const { method = '' } = request
  if (!forwardedMethods.has(method)) return ownerApiErrorAnswer('ERR_OWNER_API_METHOD_NOT_ALLOWED')
  if (asksForUpgrade(request)) return ownerApiErrorAnswer('ERR_OWNER_API_UPGRADE_REJECTED')
  const url = originForm(request)
  const [path = ''] = url.split('?')
  if (!isUnambiguous(path) || !isPlainQuery(url.slice(path.length)))
    return ownerApiErrorAnswer('ERR_OWNER_API_MALFORMED_PATH')
  const mountPath = mountPathOf(request)
  if (rules.basePath !== '' && isBelow(path, [rules.basePath])) {
    return notAllowed(doubled(rules.basePath, mountPath, path))
  }
  if (!isBelow(rules.basePath + path, rules.paths)) {
    const isTakenOff = mountPath !== '' && isBelow(rules.basePath + mountPath + path, rules.paths)
    return notAllowed(isTakenOff ? takenOff(mountPath, path) : offered(mountPath, rules))
  }
  if (isCrossSite(request, rules.trustedOrigins)) return ownerApiErrorAnswer('ERR_OWNER_API_CROSS_SITE')
  return rules.basePath + url
}

/** Express takes the mount path off: at `/api`, `/api/1/vehicles` asks the owner API for `/1/vehicles`. */
function takenOff(mountPath: string, path: string): string {
  return `The path ${mountPath}, at which the proxy is mounted, is taken off before the owner API is asked. Call ${mountPath}${mountPath}${path}, or mount the proxy at /.`
}

/** The target's path comes before the caller's. */
function doubled(basePath: string, mountPath: string, path: string): string {
  return `The proxy’s target ends in ${basePath}, which comes before each path. Call ${mountPath}${path.slice(basePath.length)}, or take ${basePath} off the target.`
}

function offered(mountPath: string, { basePath, paths }: AdmissionRules): string {
  const own = paths.map((path) => mountPath + (isBelow(path, [`${basePath}/`]) ? path.slice(basePath.length) : '/'))
  return `This path of the owner API is not available here. Paths here begin with ${own.join(' or ')}.`
}

const notAllowed = (detail: string): Answer => ownerApiErrorAnswer('ERR_OWNER_API_PATH_NOT_ALLOWED', detail)

/** Where Express has mounted the proxy. */
export function mountPathOf(request: IncomingMessage): string {
  const baseUrl = property(request, 'baseUrl')
  return typeof baseUrl === 'string' ? baseUrl : ''
}

/**
 * Whether a page of another site makes the call, with the owner's cookies in it. `Sec-Fetch-Site` decides where a browser sends it, else `Origin` against `Host`. A caller with neither is no browser,
 * and so sends no owner's cookies on behalf of a page.
 *
 * @param trustedOrigins - origins that may call as if they were this one
 */
export function isCrossSite({ method, headers }: IncomingMessage, trustedOrigins: ReadonlySet<string>): boolean {
  // Over HTTP/2, the host has a name of its own (RFC 9113 section 8.3.1).
  const { origin, host = headers[':authority'] } = headers
  if (origin !== undefined && trustedOrigins.has(origin)) return false
  const site = headers['sec-fetch-site']
  if (site === undefined) return origin !== undefined && !isSameHost(origin, String(host))
  // Reading across subdomains is what the application's own CORS rules decide; writing is not.
  if (method === 'GET' || method === 'HEAD') return site === 'cross-site'
  return site !== 'same-origin' && site !== 'none'
}

/** A dot at the end of a host says that its name is whole, and nothing else. */
const withoutDot = (host: string): string => host.replace(/\.(?=:\d+$|$)/u, '')

/** The scheme may be another: what ends TLS in front asks over http. An app's own (`capacitor://localhost`) is no site. */
function isSameHost(origin: string, host: string): boolean {
  if (!/^https?:/u.test(origin) || !URL.canParse(origin)) return false
  const { protocol, host: originHost } = new URL(origin)
  const own = `${protocol}//${host}`
  return URL.canParse(own) && withoutDot(new URL(own).host) === withoutDot(originHost)
}
