/**
 * The clocks of a worker, which the driver moves: imported before anything else, so that everybody in the process reads them.
 *
 * A jump is the same in all processes, as time that passes; a skew is one process's own. Timers are not moved. What was written to a file before a
 * jump is older by the jump: a cache that compares the clock with a file's time must not be misled by us.
 */
import fs from 'node:fs'

const RealDate = Date
/** Not moved: how long a caller waited. */
export const realNow = performance.now.bind(performance)

/** `[when it was made, milliseconds]`, by the machine's clock. */
const jumps = []
let skew = 0

const passedAt = (real) => jumps.reduce((sum, [at, by]) => (at <= real ? sum + by : sum), 0)
const passed = () => jumps.reduce((sum, [, by]) => sum + by, 0)

export function setClock(clock) {
  jumps.push(...clock.jumps)
  ;({ skew } = clock)
}

export const jump = (made) => void jumps.push(made)

globalThis.Date = class Date extends RealDate {
  constructor(...parts) {
    if (parts.length === 0) super(Date.now())
    else super(...parts)
  }
  static now() {
    return RealDate.now() + passed() + skew
  }
  static [Symbol.hasInstance](value) {
    return value instanceof RealDate
  }
}
performance.now = () => realNow() + passed()

const { stat } = fs.promises
fs.promises.stat = async (...args) => {
  const stats = await stat(...args)
  if (typeof stats.mtimeMs !== 'number') return stats
  const modified = stats.mtimeMs + passedAt(stats.mtimeMs)
  return Object.defineProperties(stats, { mtimeMs: { value: modified }, mtime: { value: new RealDate(modified) } })
}
