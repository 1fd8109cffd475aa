/**
 * The record of a budget, and what may be made of it: pure functions. Windows are numbered, and so are the places in each.
 *
 * Who waits reserves the first place that nobody has, of this window or of one to come: that is the order. What counts is the
 * claim, once the window is the current one: a place whose owner died is claimed by another.
 */
import type { RefreshBudgetRecord } from '../../store/token-record.ts'
import { longestWait, type Windows } from './request-budget.ts'

/** Before the first window: the budget begins when somebody opens it. */
export const untouched: RefreshBudgetRecord = {
  schema: 1,
  state: 'refresh-budget',
  window: 0,
  used: 0,
  free: [0, 0],
}

/** The next window is the current one. What nobody claimed of this one is gone. */
export function opened(record: RefreshBudgetRecord): RefreshBudgetRecord {
  return { ...record, window: record.window + 1, used: 0 }
}

/** The first place that nobody has reserved or claimed, as its window and its number there. */
export function freePlace({ window, used, free }: RefreshBudgetRecord, places: number): readonly [number, number] {
  const [at, place] = free[0] > window ? free : ([window, free[0] < window ? used : Math.max(free[1], used)] as const)
  // A process with another budget may have counted further than our windows go.
  return place < places ? [at, place] : [at + 1, 0]
}

/** Reserves so many places, or as many as there are up to the window `last`. */
function reservePlaces(
  record: RefreshBudgetRecord,
  count: number,
  last: number,
  places: number,
): { readonly windows: readonly number[]; readonly record: RefreshBudgetRecord } {
  let [window, place] = freePlace(record, places)
  const windows: number[] = []
  while (windows.length < count && window <= last) {
    windows.push(window)
    place += 1
    if (place === places) [window, place] = [window + 1, 0]
  }
  return windows.length === 0 ? { windows, record } : { windows, record: { ...record, free: [window, place] } }
}

/** What both say together: a store that was emptied, or went back in time, gives no place away again that was seen taken. */
export function together(one: RefreshBudgetRecord, other: RefreshBudgetRecord): RefreshBudgetRecord {
  const isLater = one.free[0] > other.free[0] || (one.free[0] === other.free[0] && one.free[1] >= other.free[1])
  const window = Math.max(one.window, other.window)
  const used = Math.max(...[one, other].map((each) => (each.window === window ? each.used : 0)))
  return { ...one, window, used, free: isLater ? one.free : other.free }
}

/** Milliseconds that places are taken ahead at the most: callers wait for half a minute, in windows of any length. */
const longestAhead = 60 * 60_000

/** Nobody takes places of windows that are hours away, and no number of a window is so high that it can't be counted on from. */
export function isBelievable({ window, free: [reached] }: RefreshBudgetRecord, { length }: Windows): boolean {
  return (reached - window) * length <= longestAhead && window <= Number.MAX_SAFE_INTEGER / 2
}

/** Places that are taken at once at the most, so that no process takes all there are before another has looked. */
const batch = 16

/** What a look comes to: what is reserved and claimed, and how many callers there is no place for. */
export interface Plan {
  readonly record: RefreshBudgetRecord
  readonly isChange: boolean
  readonly reserved: readonly number[]
  readonly claimed: number
  readonly unserved: number
  /** More callers can be served by another look. */
  readonly isAgain: boolean
}

/**
 * @param age - of the current window, in milliseconds
 * @param ours - the windows of the places that we have reserved
 * @param grace - milliseconds that a place waits for its owner, before others take it in the background; callers do after half
 */
export function planFor(
  { callers, background }: { readonly callers: number; readonly background: number },
  current: RefreshBudgetRecord,
  age: number,
  ours: readonly number[],
  { places, length }: Windows,
  grace: number,
): Plan {
  const wanted = Math.max(0, callers - ours.length)
  const reachable = current.window + Math.floor((longestWait + age) / length)
  const forCallers = reservePlaces(current, Math.min(wanted, batch), reachable, places)
  const isServed = forCallers.windows.length === wanted
  const spare = isServed ? Math.min(background, batch) : 0
  const forOthers = reservePlaces(forCallers.record, spare, current.window, places)

  const reserved = [...ours, ...forCallers.windows]
  const due = reserved.filter((window) => window === current.window).length
  const unclaimed = places - current.used
  const byCallers = Math.min(age >= grace / 2 ? callers : due, callers, unclaimed)
  const byOthers = Math.min(age >= grace ? background : forOthers.windows.length, unclaimed - byCallers)
  const claimed = byCallers + byOthers
  return {
    record: { ...forOthers.record, used: current.used + claimed },
    isChange: claimed > 0 || forOthers.record !== current,
    reserved,
    claimed,
    unserved: wanted - forCallers.windows.length,
    isAgain: !isServed && forCallers.windows.length === batch,
  }
}
