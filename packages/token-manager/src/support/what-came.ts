/**
 * What came in place of what a call takes, for the end of its message: the kind, and the step that is missing. Never the content.
 */

/** Such as `; a promise came: await it`. Empty where the rest of the message says enough. */
export function whatCame(value: unknown): string {
  if (value === null) return '; null came'
  if (typeof value === 'string') {
    return /^\s*[[{]/u.test(value) ? '; JSON text came: write JSON.parse(text)' : '; text came'
  }
  if (typeof value === 'function') return '; a function came: call it'
  if (Array.isArray(value)) return '; a list came'
  if (isPromise(value)) return '; a promise came: await it'
  if (isStore(value)) return '; a token store came'
  return ['number', 'boolean', 'bigint'].includes(typeof value) ? `; a ${typeof value} came` : ''
}

/** By its shape: it may be of another realm, or a library's own. */
export const isPromise = (value: unknown): boolean => hasMethods(value, 'then')

export const isStore = (value: unknown): boolean => hasMethods(value, 'read', 'swap')

function hasMethods(value: unknown, ...names: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false
  return names.every((name) => typeof Reflect.get(value, name) === 'function')
}
