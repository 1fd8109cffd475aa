/**
 * The record of a budget, and what may be made of it: pure functions. Windows are numbered, and so are the places in each;
 * who wants one takes the first that nobody has, of this window or of one to come.
 */
import type { RefreshBudgetRecord } from '../store/token-record.ts'

/** Before the first window: the budget begins when somebody opens it. */
export const untouched: RefreshBudgetRecord = { schema: 1, state: 'refresh-budget', window: 0, free: [0, 0] }

/** The next window is the current one. What nobody took of this one is gone. */
export function opened(record: RefreshBudgetRecord): RefreshBudgetRecord {
  return { ...record, window: record.window + 1 }
}

/** The first place that nobody has taken, as its window and its number there. */
export function freePlace({ window, free }: RefreshBudgetRecord, places: number): readonly [number, number] {
  // A process with another budget may have counted further than our windows go.
  const [at, place] = free[1] < places ? free : ([free[0] + 1, 0] as const)
  return at < window ? [window, 0] : [at, place]
}

/** The windows of the places that were taken, and the record that says so. */
export interface Taken {
  readonly windows: readonly number[]
  readonly record: RefreshBudgetRecord
}

/** Takes so many places, or as many as there are up to the window `last`. */
export function takePlaces(record: RefreshBudgetRecord, count: number, last: number, places: number): Taken {
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
  return { ...one, window: Math.max(one.window, other.window), free: isLater ? one.free : other.free }
}
