/**
 * What a keeper is told: its options, checked.
 */
import { callSafely } from '../support/callback-fault.ts'
import type { KeeperEvent } from './keeper-event.ts'

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

/** With milliseconds. */
export interface KeeperSettings {
  readonly within: number
  readonly every: number
  readonly refreshTokenLifetime: number | undefined
  readonly tell: (event: KeeperEvent) => void
}

/** @throws TypeError naming the option that is wrong */
export function parseKeeperOptions({ within = 7200, every = within / 8, ...rest }: KeeperOptions): KeeperSettings {
  const { refreshTokenLifetime, onSweep } = rest
  check(isTime(within), 'within must be seconds, more than 0')
  check(isTime(every), 'every must be seconds, more than 0')
  check(every <= within / 4, 'every must be at most a quarter of within: else a session may end between two sweeps')
  check(
    refreshTokenLifetime === undefined || isTime(refreshTokenLifetime),
    'refreshTokenLifetime must be seconds, more than 0',
  )
  check(
    refreshTokenLifetime === undefined || within < refreshTokenLifetime,
    'within must be less than refreshTokenLifetime: else every account is due all the time',
  )
  check(onSweep === undefined || typeof onSweep === 'function', 'onSweep must be a function')
  return {
    tell: (event) => callSafely('onSweep', () => onSweep?.(event)),
    within: within * 1000,
    every: every * 1000,
    refreshTokenLifetime: refreshTokenLifetime === undefined ? undefined : refreshTokenLifetime * 1000,
  }
}

const isTime = (seconds: unknown): boolean => Number.isFinite(seconds) && Number(seconds) > 0

function check(condition: boolean, mistake: string): void {
  if (!condition) throw new TypeError(mistake)
}
