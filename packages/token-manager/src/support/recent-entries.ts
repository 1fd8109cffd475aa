/**
 * A map that keeps the entries that were set last: a Map lists its keys in the order in which they were added.
 */

export interface RecentEntries<Value> {
  get(key: string): Value | undefined
  has(key: string): boolean
  set(key: string, value: Value): void
}

/** @param most - entries that are kept @param onForgotten - is given each entry that had to go */
export function recentEntries<Value>(
  most: number,
  onForgotten?: (value: Value, key: string) => void,
): RecentEntries<Value> {
  const entries = new Map<string, Value>()
  return {
    get: (key) => entries.get(key),
    has: (key) => entries.has(key),
    set(key, value) {
      entries.delete(key)
      entries.set(key, value)
      if (entries.size <= most) return
      const [oldest] = entries
      if (oldest === undefined) return
      entries.delete(oldest[0])
      onForgotten?.(oldest[1], oldest[0])
    },
  }
}
