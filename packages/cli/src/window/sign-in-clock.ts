/**
 * How long a person may take, and how much of that is left.
 */
import { duration } from '../terminal/duration.ts'

/** Seconds: as long as a sign-in through Passport in its mode `browser` waits. */
const limit = 15 * 60

/**
 * Rejects when the time is over. The clock on the wall counts, since a sign-in grows old while the machine sleeps.
 *
 * @param show - called whenever the words for the time that is left change
 * @param ended - stops the clock
 * @param over - what it rejects with
 */
export function runClock(show: (left: string) => void, ended: AbortSignal, over: () => Error): Promise<never> {
  const end = Date.now() / 1000 + limit
  let shown = ''
  return new Promise((_resolve, reject) => {
    const tick = (): void => {
      const left = end - Date.now() / 1000
      if (left <= 0) return reject(over())
      const words = duration(left)
      if (words !== shown) show(words)
      shown = words
    }
    const timer = setInterval(tick, 500)
    ended.addEventListener('abort', () => clearInterval(timer), { once: true })
    tick()
  })
}
