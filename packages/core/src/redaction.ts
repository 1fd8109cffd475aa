/**
 * Objects that must be stored but never shown: plain data whose `util.inspect` (and so `console.log`) hides some fields.
 */
import { inspect } from 'node:util'

/** Hides the fields of a kind of object. One for all of a kind, so that two objects with the same data are equal. */
export type PrintingRule = (this: object, depth: number, options: object) => string

/**
 * @param name - what the printed object calls itself
 * @param harmless - the fields that may be shown; a field added later is hidden until it is listed here
 */
export function printingRule(name: string, harmless: readonly string[]): PrintingRule {
  const shown = new Set(harmless)
  return function print(_depth, options) {
    const visible = Object.fromEntries(
      Object.entries(this).map(([key, value]: [string, unknown]) => [key, shown.has(key) ? value : '[redacted]']),
    )
    // customInspect false would print the tokens of an object nested in it; the default is all that is needed here.
    return `${name} ${inspect(visible, { ...options, customInspect: true })}`
  }
}

/**
 * A copy of `data` that serialises in full but prints `[redacted]` for what the rule hides.
 *
 * The rule is a symbol that can be enumerated, so that a spread copy has it too; JSON and `structuredClone` leave it out.
 */
export function redacted<T extends object>(data: T, rule: PrintingRule): T {
  return Object.defineProperty({ ...data }, inspect.custom, { value: rule, enumerable: true })
}
