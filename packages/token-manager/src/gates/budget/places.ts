/**
 * The record of a budget, and what may be made of it: pure functions. Windows are numbered, and so are the places in each.
 *
 * Who waits reserves the first place that nobody has, of this window or of one to come: that is the order. What counts is the
 * claim, once the window is the current one: a place whose owner died is claimed by another.
 */
import type { RefreshBudgetRecord } from '../../store/token-record.ts'

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

/** The windows of the places that were reserved, and the record that says so. */
export interface Reserved {
  readonly windows: readonly number[]
  readonly record: RefreshBudgetRecord
}

/** Reserves so many places, or as many as there are up to the window `last`. */
export function reservePlaces(record: RefreshBudgetRecord, count: number, last: number, places: number): Reserved {
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
