/**
 * The emulator's clock: the machine's own, moved and stopped by tests. Everything that expires looks at it.
 */

export interface Clock {
  /** Seconds since the epoch, with a fraction. */
  now(): number
  /** Moves the clock by so many seconds; a negative number moves it back. */
  advance(seconds: number): void
  /** Sets the clock to this moment, in seconds since the epoch. */
  jump(to: number): void
  /** It stands still, and moves by `advance` and `jump` alone. */
  freeze(): void
  /** It runs on from where it stands. */
  unfreeze(): void
  readonly frozen: boolean
  /** Seconds that it is ahead of the machine's own. */
  readonly offset: number
  /** Back to the machine's time. */
  reset(): void
}

export function createClock(): Clock {
  let offset = 0
  let standing: number | undefined
  const now = (): number => standing ?? machine() + offset

  function move(seconds: number): void {
    if (standing === undefined) offset += seconds
    else standing += seconds
  }

  return {
    now,
    advance(seconds) {
      requireFinite('advance(seconds): seconds', seconds)
      move(seconds)
    },
    jump(to) {
      requireFinite('jump(to): to', to)
      move(to - now())
    },
    freeze() {
      standing ??= now()
    },
    unfreeze() {
      offset = now() - machine()
      standing = undefined
    },
    get frozen() {
      return standing !== undefined
    },
    get offset() {
      return standing === undefined ? offset : standing - machine()
    },
    reset() {
      offset = 0
      standing = undefined
    },
  }
}

function machine(): number {
  return Date.now() / 1000
}

function requireFinite(name: string, value: unknown): void {
  if (!Number.isFinite(value)) throw new TypeError(`${name} must be a finite number`)
}
