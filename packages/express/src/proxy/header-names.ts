/**
 * Which headers may pass, and which never do, whatever an option says.
 */

import { whatCame } from '@owner-sso/core'

/** Of the caller's request. */
export const defaultRequestHeaders = [
  'accept',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'content-encoding',
  'content-language',
  'content-type',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'last-event-id',
  'range',
] as const

/** Of the owner API's answer. `location`, `vary` and `cache-control` pass in a safe form. */
export const defaultResponseHeaders = [
  'accept-ranges',
  'age',
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-length',
  'content-range',
  'content-type',
  'date',
  'etag',
  'last-modified',
  'location',
  'retry-after',
  'vary',
] as const

/** They belong to one connection (RFC 9110 section 7.6.1), or to the body's framing. */
const ofConnection = /^(?:connection|expect|http2-settings|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/u

/** Credentials; what says who the caller is, or where; and what some servers take in place of the checked path and method. */
const neverSent =
  /^(?:authorization|content-length|cookie2?|forwarded|host|user-agent|via|x-forwarded(?:-.*)?|x-http-method(?:-override)?|x-method-override|x-original-.*|x-real-ip|x-rewrite-url)$/u

/** Credentials; policies that are the application's to set for its origin; and commands to a web server or a cache in front of it. */
const neverAnswered =
  /^(?:access-control-.*|alt-svc|(?:.+-)?cdn-cache-control|cache-tag|edge-control|surrogate-(?:control|key)|authentication-info|authorization|clear-site-data|content-security-policy(?:-report-only)?|cross-origin-.*|origin-agent-cluster|permissions-policy|public-key-pins|refresh|report-to|reporting-endpoints|server|service-worker-allowed|set-cookie2?|strict-transport-security|www-authenticate|x-accel-.*|x-content-type-options|x-frame-options|x-powered-by|x-sendfile)$/u

/** @throws TypeError that names the option and the header */
export function requestHeaderNames(more: unknown = []): readonly string[] {
  return allowList('requestHeaders', defaultRequestHeaders, more, neverSent)
}

/** @throws TypeError that names the option and the header */
export function responseHeaderNames(more: unknown = []): readonly string[] {
  return allowList('responseHeaders', defaultResponseHeaders, more, neverAnswered)
}

function allowList(option: string, defaults: readonly string[], more: unknown, never: RegExp): readonly string[] {
  if (!Array.isArray(more)) throw new TypeError(`${option} must be an array of header names${whatCame(more)}`)
  const names = more.map((name: unknown) => {
    if (typeof name !== 'string' || !/^[\w!#$%&'*+.^`|~-]+$/u.test(name)) {
      throw new TypeError(`${option} must be an array of header names`)
    }
    const lowerCase = name.toLowerCase()
    if (ofConnection.test(lowerCase) || never.test(lowerCase)) {
      throw new TypeError(`${option} can’t include ${lowerCase}, which is never forwarded`)
    }
    return lowerCase
  })
  return [...new Set([...defaults, ...names])]
}

/** Names that a `Connection` header lists: hop-by-hop for this message, whatever they are. `undefined` for the usual none. */
export function connectionNames(connection: string | string[] | undefined): ReadonlySet<string> | undefined {
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return undefined
  return new Set(
    String(connection)
      .toLowerCase()
      .split(',')
      .map((name) => name.trim()),
  )
}
