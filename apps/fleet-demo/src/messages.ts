/**
 * What the demo and its workers tell each other.
 */

/** What a worker is started with; it stands in its environment as JSON. */
export interface WorkerSettings {
  readonly authUrl: string
  readonly regionalAuthUrl: string
  /** See `openStore`. */
  readonly store: string
  /** Accounts that somebody calls for. The keeper alone looks after the others. */
  readonly used: readonly string[]
  /** Seconds that the clocks are ahead of the machine's. */
  readonly ahead: number
  readonly hasBudget: boolean
}

/** Told to a worker: its clocks are so many seconds ahead from now on. */
export interface ClockMessage {
  readonly ahead: number
}

/** Told by a worker, twice a second. */
export interface WorkerReport {
  readonly keeper: 'sweeping' | 'waiting' | 'elsewhere' | 'stopped'
  /** Callers that have no token yet. */
  readonly waiting: number
  /** Callers that got one so far. */
  readonly served: number
}
