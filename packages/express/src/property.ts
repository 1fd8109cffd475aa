/**
 * Reads what a type doesn't know: a property that another handler may have left on a request, or an error.
 */

/** A property of anything; `undefined` where there is none. */
export function property(of: unknown, name: string): unknown {
  if ((typeof of !== 'object' && typeof of !== 'function') || of === null) return undefined
  return Reflect.get(of, name)
}
