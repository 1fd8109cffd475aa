/**
 * Whether a request may be forwarded at all, derived from its first lines.
 */
import type { IncomingMessage } from 'node:http'
import type { Answer } from '../answers/problem.ts'
import { forwardedMethods, ownerApiErrorAnswer } from '../answers/owner-api-error.ts'
import { property } from '../property.ts'
import { isCrossSite } from './cross-site.ts'
import { declaresBody } from './request-body.ts'
import { isBelow, isPlainQuery, isUnambiguous, originForm } from './request-path.ts'
import { asksForUpgrade } from './upgrade.ts'

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
  if (namesTwoHosts(request)) return ownerApiErrorAnswer('ERR_OWNER_API_MALFORMED_REQUEST')
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

/** Which of them counts differs from server to server (RFC 9112 section 3.2). */
export function namesTwoHosts({ rawHeaders }: IncomingMessage): boolean {
  return rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length > 1
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
 * One way to tell where the body ends (RFC 9112 section 6.3), also on servers that were told to parse leniently. Where there
 * is another, what follows on the connection may be a body to whoever sent it, and is a request to this server.
 */
export function hasPlainFraming(request: IncomingMessage): boolean {
  const { method, headers } = request
  const coding = headers['transfer-encoding']
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || headers['content-length'] !== undefined))
    return false
  return !declaresBody(request) || (method !== 'GET' && method !== 'HEAD')
}
