/**
 * The budget for refreshes as an option, and the figures that it comes to.
 *
 * It is kept in windows: each has so many places, and a place is one request. Nobody's clock is compared with another's: a
 * process opens the next window once it has itself seen the current one for `length`, and no claim of a place for `rest`.
 */

import { checkOptionNames, requireThat } from '../../support/options.ts'

/** How many refresh requests go to one host, whoever makes them. */
export interface RequestBudget {
  /** In any minute, at the most: a whole number, 2 or more. Sign-ins are not counted: leave room for them. */
  readonly perMinute: number
  /**
   * Of these, so many may go in any second: a whole number, half of `perMinute` at the most; default a sixtieth of it, rounded up.
   * What is not used is not saved up beyond that. The larger, the less is used of `perMinute`, and less than a sixtieth lets no
   * more than 60 times as many go in a minute: see `docs/guides/fleets.md`.
   */
  readonly burst?: number | undefined
  /** Who shares it: all processes that share the store (default), or each token manager has one of its own. */
  readonly scope?: 'store' | 'process' | undefined
}

export interface Windows {
  /** Requests that one window has room for. */
  readonly places: number
  /** Milliseconds that a window is seen before the next is opened. */
  readonly length: number
  /** Milliseconds between claims of places of two windows, so that these never meet within a second. */
  readonly rest: number
}

/** Milliseconds in which a place has to be used, from before it was claimed. */
export const placeLife = 3000
/** Milliseconds that somebody waits for a place at the most: what a request may take as well. */
export const longestWait = 30_000

/** Milliseconds, of which the rest takes a second: what goes at once goes within any second. */
const shortestLength = 1064

/**
 * The requests of any minute stem from windows that were current within that minute, or `placeLife` before it: from those
 * opened in that time, and the one before them.
 */
export function windowsOf({ perMinute, burst = defaultBurst(perMinute) }: RequestBudget): Windows {
  const openings = Math.floor(perMinute / burst) - 1
  const length = Math.max(shortestLength, Math.ceil((60_000 + placeLife) / openings))
  // A little less than a window, since claims come a little after its opening; two seconds, since a request may be held up.
  return { places: burst, length, rest: Math.min(Math.floor(length * 0.94), 2000) }
}

const defaultBurst = (perMinute: number): number => Math.ceil(perMinute / 60)

/**
 * A budget as a setting has it: as one word, `300`, or `300:5` with a burst of 5; or as the option itself, out of a file.
 *
 * @throws TypeError naming the setting
 */
export function requestBudgetFrom(value: string | object, setting = 'requestBudget'): RequestBudget {
  const budget = typeof value === 'string' ? fromWord(value) : { perMinute: Number.NaN, ...value }
  requireThat(budget !== undefined, `${setting} must be requests a minute, such as 300, or with a burst 300:5`)
  checkBudget(budget, setting)
  return budget
}

function fromWord(text: string): RequestBudget | undefined {
  const [, perMinute, burst] = /^(\d{1,9})(?::(\d{1,9}))?$/u.exec(text) ?? []
  if (perMinute === undefined) return undefined
  return { perMinute: Number(perMinute), ...(burst !== undefined && { burst: Number(burst) }) }
}

/** @throws TypeError naming the figure that is wrong */
export function checkBudget(budget: RequestBudget, name = 'requestBudget'): void {
  checkOptionNames(name, budget, { perMinute: true, burst: true, scope: true })
  const { perMinute, burst = 1, scope = 'store' } = budget
  requireThat(Number.isSafeInteger(perMinute) && perMinute >= 2, `${name}: perMinute must be a whole number, 2 or more`)
  requireThat(
    Number.isSafeInteger(burst) && burst >= 1 && burst <= perMinute / 2,
    `${name}: burst must be a whole number, half of perMinute at the most`,
  )
  requireThat(scope === 'store' || scope === 'process', `${name}: scope must be 'store' or 'process'`)
}
