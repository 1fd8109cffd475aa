/**
 * The headers that go to the owner API.
 */
import type { IncomingMessage } from 'node:http'
import { connectionNames } from './header-names.ts'
import type { RequestBody } from './request-body.ts'

/** Those of the caller's headers that are on the list, as a flat array of names and values. */
export function upstreamHeaders(
  { headers }: IncomingMessage,
  names: readonly string[],
  userAgent: string,
  { contentType, length }: RequestBody,
): string[] {
  const hopByHop = connectionNames(headers.connection)
  const flat = ['user-agent', userAgent]
  for (const name of names) {
    // Own properties alone: what somebody put on Object.prototype is no header.
    if (!Object.hasOwn(headers, name) || hopByHop?.has(name)) continue
    const value = headers[name]
    if (contentType !== undefined && name.startsWith('content-')) continue
    if (typeof value === 'string') flat.push(name, value)
  }
  // A body that was parsed is written anew: uncompressed, and in UTF-8.
  if (contentType !== undefined) flat.push('content-type', contentType)
  if (length !== undefined) flat.push('content-length', String(length))
  return flat
}
