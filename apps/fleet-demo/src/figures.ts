/**
 * The figures of the demo: hours of a real fleet in minutes, so that there is something to see.
 */

import type { KeeperOptions, RequestBudget } from '@owner-sso/core'
import type { FirewallOptions } from '@owner-sso/emulator'

/** Seconds that an access token lives. */
export const tokenLife = 90

/** Seconds of the night: longer than any block of the firewall. */
export const night: number = 8 * 60 * 60

/** The firewall blocks who sends more, for a quarter of an hour. */
export const firewall: Required<FirewallOptions> = { maxRequests: 150, windowSeconds: 5, blockSeconds: 900 }

/** Never more than 120 of them meet within the firewall's window. */
export const requestBudget: Required<Pick<RequestBudget, 'perMinute' | 'burst'>> = { perMinute: 1200, burst: 20 }

/** Of the keeper, in seconds. */
export const keeping: KeeperOptions = { within: 24, every: 6 }

export const numberOfWorkers = 4

/** Milliseconds until a process that died is started again: long enough to see that it is missing. */
export const restartAfter = 2500
