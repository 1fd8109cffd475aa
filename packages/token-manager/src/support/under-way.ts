/**
 * What this process has begun and not ended: refreshes from their first look to their landing, commits, and every call that
 * may write. `settled()` waits for all of it.
 */
export interface UnderWay {
  /** Counts the work until it has ended; returns it. */
  readonly track: <Value>(work: Promise<Value>) => Promise<Value>
  /** Somebody waits for everything to end: nothing new is begun in the background. */
  readonly isEnding: () => boolean
  /** @param wait - waits for the end of everything, or gives up */
  readonly settled: (wait: (end: Promise<void>) => Promise<void>) => Promise<void>
}

export function createUnderWay(): UnderWay {
  const all = new Set<Promise<unknown>>()
  let waiting = 0

  async function allEnded(): Promise<void> {
    while (all.size > 0) await Promise.allSettled(all)
  }

  return {
    track(work) {
      const end = (): void => void all.delete(work)
      all.add(work)
      work.then(end, end)
      return work
    },
    isEnding: () => waiting > 0,
    async settled(wait) {
      waiting += 1
      try {
        await wait(allEnded())
      } finally {
        waiting -= 1
      }
    },
  }
}
