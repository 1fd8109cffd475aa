/**
 * The body of a token request: small, soon there, and in one of two forms.
 */
import type { IncomingMessage } from 'node:http'
import { startTimeLimit } from '@owner-sso/core'
import { RejectedCall } from './rejection.ts'

/** Bytes; a token request has some hundred, with a long token in it a few thousand. */
const longest = 16_384
/** Milliseconds. */
const patience = 10_000

/** The fields of a token request. */
export type Fields = ReadonlyMap<string, string>

/**
 * The fields of a body, JSON as documented or form-encoded for legacy clients (RFC 6749 section 3.2).
 *
 * @returns nothing where it can't be understood: another type, or a field that comes twice. A field that is no text, such
 * as `"client_secret": null`, is ignored
 * @throws RejectedCall for a body that is too long, or too slow
 */
export async function tokenRequestFields(request: IncomingMessage): Promise<Fields | undefined> {
  const parsed = parsedBody(request)
  if (parsed !== undefined) return fieldsOf(Object.entries(parsed))
  if (request.headers['content-encoding'] !== undefined) return undefined
  return fieldsOfText(await bodyText(request), request.headers['content-type'])
}

/** @param contentType - `application/json` or `application/x-www-form-urlencoded`, with parameters or without */
export function fieldsOfText(text: string, contentType = ''): Fields | undefined {
  const [type = ''] = contentType.split(';')
  switch (type.trim().toLowerCase()) {
    case 'application/json':
      return jsonFields(text)
    case 'application/x-www-form-urlencoded':
      return fieldsOf([...new URLSearchParams(text)])
    default:
      return undefined
  }
}

/** What a body parser of the application made of it. */
function parsedBody(request: IncomingMessage): object | undefined {
  if (!request.readableDidRead || !('body' in request)) return undefined
  return typeof request.body === 'object' && request.body !== null ? request.body : undefined
}

function jsonFields(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? fieldsOf(Object.entries(value)) : undefined
  } catch {
    return undefined
  }
}

function fieldsOf(entries: readonly (readonly [string, unknown])[]): Fields | undefined {
  const fields = new Map<string, string>()
  for (const [name, value] of entries) {
    if (fields.has(name)) return undefined
    if (typeof value === 'string') fields.set(name, value)
  }
  return fields
}

function bodyText(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    const end = (): void => {
      endLimit()
      request.off('data', take).off('end', complete).off('close', breakOff).resume()
    }
    const stop = (why: RejectedCall): void => {
      end()
      reject(why)
    }
    const take = (chunk: Buffer): void => {
      length += chunk.length
      if (length > longest) stop(new RejectedCall('ERR_BROKER_BODY_TOO_LARGE'))
      else chunks.push(chunk)
    }
    const complete = (): void => {
      end()
      // Without the byte order mark that some programs put before their text.
      resolve(new TextDecoder().decode(Buffer.concat(chunks)))
    }
    const breakOff = (): void => stop(new RejectedCall('ERR_BROKER_MALFORMED_REQUEST'))
    const endLimit = startTimeLimit(patience, () => stop(new RejectedCall('ERR_BROKER_SLOW_BODY')))
    request.on('data', take).once('end', complete).once('close', breakOff)
  })
}
