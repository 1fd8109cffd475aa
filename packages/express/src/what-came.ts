/**
 * What came in place of what an option takes, for the end of a message: the kind, and the step that is missing. Never the content.
 */
import { property } from './property.ts'

/** Such as `; a promise came: await it`. Empty where the rest of the message says enough. */
export function whatCame(value: unknown): string {
  if (value === null) return '; null came'
  if (Array.isArray(value)) return '; a list came'
  if (typeof property(value, 'then') === 'function') return '; a promise came: await it'
  if (typeof value === 'string') return '; text came'
  return ['number', 'boolean', 'bigint', 'function'].includes(typeof value) ? `; a ${typeof value} came` : ''
}
