/**
 * What a keeper tells of its sweeps.
 */

/** What one sweep came to. */
export interface SweepCounts {
  /** Accounts that are signed in. */
  readonly accounts: number
  /** Of these, whose session ends within `within`. */
  readonly due: number
  /** New tokens, by this sweep. */
  readonly refreshed: number
  /** Due, and refreshed by somebody else before their turn came. */
  readonly spared: number
  /** A refresh that failed, or is in doubt; it is tried again in the next sweep. */
  readonly failed: number
  /** The owner has to sign in again: no keeper can help. Told once for each, as `reauthentication-required`. */
  readonly signInAgain: number
  /** Records that can't be read (`corrupt`, `wrong-key`): those that don't even tell their account count as one. They are left as they are. */
  readonly unreadable: number
}

/** What a keeper tells of a sweep (`onSweep`). Times are seconds since the epoch. */
export interface KeeperEvent extends SweepCounts {
  /**
   * `started`: it looks at all accounts. `surveyed`: it knows which are due. `progress`: one of these, `account`, is done; `error`
   * says why where it failed. `ended`: `error` says why where it did not come to its end, and `next_sweep_at` when the next one
   * begins.
   */
  readonly phase: 'started' | 'surveyed' | 'progress' | 'ended'
  readonly account?: string
  readonly error?: Error
  readonly next_sweep_at?: number
}
