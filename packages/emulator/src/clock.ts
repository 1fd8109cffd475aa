/** The emulator's clock: the machine's own, moved ahead by tests. Everything that expires looks at it. */

export interface Clock {
  /** Seconds since the epoch, with a fraction. */
  now(): number
  /** Moves the clock by so many seconds; a negative number moves it back. */
  advance(seconds: number): void
  /** Back to the machine's time. */
  reset(): void
}

export function createClock(): Clock {
  let offset = 0
  return {
    now: () => Date.now() / 1000 + offset,
    advance(seconds) {
      if (!Number.isFinite(seconds)) throw new TypeError('advance(seconds): seconds must be a finite number')
      offset += seconds
    },
    reset() {
      offset = 0
    },
  }
}
