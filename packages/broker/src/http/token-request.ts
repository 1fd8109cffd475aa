/**
 * The fields of a token request, which are in one of two forms.
 */
import type { IncomingMessage } from 'node:http'
import { bodyText } from './body-text.ts'

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

function fieldsOfText(text: string, contentType = ''): Fields | undefined {
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
