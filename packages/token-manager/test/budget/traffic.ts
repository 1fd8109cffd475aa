/** The requests that a simulated service gets: how many in each minute, and the most in any, wherever it begins. */
export interface Traffic {
  /** A request came. @param at - seconds; never less than before */
  count(at: number): void
  /** Requests of each whole minute between two times, in seconds. */
  minutes(from: number, to: number): readonly number[]
  /** The most within any 60 s so far. */
  mostInAMinute(): number
  /** Since the beginning. */
  all(): number
}

/** @param expected - requests in 60 s; more are counted as well */
export function createTraffic(expected: number): Traffic {
  const perMinute: number[] = []
  /** The times of the last 60 s, in a ring. */
  let recent = new Float64Array(2 * expected)
  let [first, next, most] = [0, 0, 0]
  return {
    count(at) {
      const minute = Math.floor(at / 60)
      perMinute[minute] = (perMinute[minute] ?? 0) + 1
      while (first < next && (recent[first % recent.length] ?? 0) <= at - 60) first += 1
      if (next - first === recent.length) {
        const wider = new Float64Array(2 * recent.length)
        for (let index = first; index < next; index += 1)
          wider[index % wider.length] = recent[index % recent.length] ?? 0
        recent = wider
      }
      recent[next % recent.length] = at
      next += 1
      most = Math.max(most, next - first)
    },
    minutes: (from, to) =>
      Array.from({ length: Math.floor(to / 60) - Math.ceil(from / 60) }, (_, minute) => {
        return perMinute[Math.ceil(from / 60) + minute] ?? 0
      }),
    mostInAMinute: () => most,
    all: () => next,
  }
}
