/**
 * What a keeper is told: its options, checked; and what it tells of its sweeps.
 */
import type { CallOptions } from '../issuer/call-options.ts'
import { callSafely } from '../support/callback-fault.ts'
import { checkOptions, kinds, type OptionRow, type OptionRows, requireThat } from '../support/options.ts'

/** How sessions are kept. All times are seconds. */
export interface KeepOptions {
  /**
   * Accounts whose session ends within this time get new tokens. When a session ends: by the refresh token's own life, where it
   * is told (by `refreshTokenLifetime`, or by the token itself if it is a JWT); else with the access token. Default 7,200: two
   * hours.
   */
  readonly within?: number | undefined
  /** Seconds that a refresh token lives if nobody uses it. Not documented by the service: set it if you know it. */
  readonly refreshTokenLifetime?: number | undefined
  /** Told how each sweep goes, for a log, a progress bar, a metric. What it throws is a warning of the process alone. */
  readonly onSweep?: ((event: KeeperEvent) => unknown) | undefined
}

/** The same for a keeper that goes on until it is stopped. */
export interface KeeperOptions extends KeepOptions {
  /** Seconds from the beginning of a sweep to that of the next; at most a quarter of `within`. Default an eighth of it. */
  readonly every?: number | undefined
}

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

/** With milliseconds. */
export interface KeeperSettings {
  readonly within: number
  readonly every: number
  readonly refreshTokenLifetime: number | undefined
  readonly tell: (event: KeeperEvent) => void
}

const time: OptionRow = {
  must: 'seconds, more than 0',
  fits: (value) => Number.isFinite(value) && Number(value) > 0,
  isFigure: true,
}
const keepRows: OptionRows<KeepOptions> = { within: time, refreshTokenLifetime: time, onSweep: kinds.function }
export const keeperRows: OptionRows<KeeperOptions> = { ...keepRows, every: time }
export const sweepRows: OptionRows<KeepOptions & CallOptions> = { ...keepRows, signal: kinds.any }

/** @throws TypeError naming the option that is wrong */
export function parseKeeperOptions(
  call: string,
  options: KeeperOptions,
  rows: Readonly<Record<string, OptionRow>>,
): KeeperSettings {
  const own: KeeperOptions = checkOptions<object>(call, options, rows)
  const { within = 7200, every = within / 8, refreshTokenLifetime, onSweep } = own
  requireThat(
    every <= within / 4,
    'every must be at most a quarter of within: else a session may end between two sweeps',
  )
  requireThat(
    refreshTokenLifetime === undefined || within < refreshTokenLifetime,
    'within must be less than refreshTokenLifetime: else every account is due all the time',
  )
  return {
    tell: (event) => callSafely('onSweep', () => onSweep?.(event)),
    within: within * 1000,
    every: every * 1000,
    refreshTokenLifetime: refreshTokenLifetime === undefined ? undefined : refreshTokenLifetime * 1000,
  }
}
