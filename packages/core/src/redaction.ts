/**
 * Objects that must be stored but never shown: plain data whose `util.inspect` (and so `console.log`) hides some fields.
 */
import { inspect } from 'node:util'

/**
 * Makes a copy of `data` that serialises in full but prints `[redacted]` for every field that is not listed as harmless.
 *
 * The printing rule is a non-enumerable symbol, so that the copy still equals, spreads and clones like the plain data.
 *
 * @param name - what the printed object calls itself
 * @param harmless - the fields that may be shown; a field added later is hidden until it is listed here
 */
export function redacted<T extends object>(name: string, data: T, harmless: readonly (keyof T)[]): T {
  const shown = new Set<PropertyKey>(harmless)
  return Object.defineProperty({ ...data }, inspect.custom, {
    value(this: T, _depth: number, options: object): string {
      const visible = Object.fromEntries(
        Object.entries(this).map(([key, value]: [string, unknown]) => [key, shown.has(key) ? value : '[redacted]']),
      )
      // customInspect false would print the tokens of an object nested in it; the default is all that is needed here.
      return `${name} ${inspect(visible, { ...options, customInspect: true })}`
    },
  })
}
