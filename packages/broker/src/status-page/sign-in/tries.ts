/**
 * How often something was tried in the last while: counted in this process's memory.
 */
export interface Tries {
  /**
   * Counts a try.
   *
   * @returns seconds until the next one is allowed; 0 for this one
   */
  readonly count: (what: string) => number
  /** Begins anew. */
  readonly forget: (what: string) => void
}

export interface TryLimit {
  readonly tries: number
  /** Seconds, from the first try on. */
  readonly during: number
}

/** Different things that are counted at a time. A further one waits: a count that gave way to it could be begun again. */
const most = 1000

export function triesWithin({ tries, during }: TryLimit): Tries {
  /** The oldest first, so that those whose time is over stand in front. Times are seconds since the epoch. */
  const counted = new Map<string, { count: number; readonly until: number }>()
  return {
    count(what) {
      const now = Date.now() / 1000
      for (const [each, { until }] of counted) if (until <= now) counted.delete(each)
      const before = counted.get(what)
      if (before !== undefined && before.count >= tries) return before.until - now
      const [oldest] = counted.values()
      if (before === undefined && oldest !== undefined && counted.size >= most) return oldest.until - now
      if (before === undefined) counted.set(what, { count: 1, until: now + during })
      else before.count += 1
      return 0
    },
    forget: (what) => void counted.delete(what),
  }
}
