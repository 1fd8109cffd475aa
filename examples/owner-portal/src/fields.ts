/**
 * The fields of a posted form.
 */
import type { Request } from 'express'

/** A field's text; empty where it is missing or was sent twice. */
export function field(request: Request, name: string): string {
  const value: unknown = hasField(request, name) ? Reflect.get(request.body, name) : undefined
  return typeof value === 'string' ? value : ''
}

/** Whether the form had such a field at all. */
export function hasField({ body }: Request, name: string): boolean {
  return typeof body === 'object' && body !== null && Object.hasOwn(body, name)
}
