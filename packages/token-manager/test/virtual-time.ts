/**
 * What happens when, on a clock that only a test moves: the earliest first, and of those at one time what was asked for first.
 *
 * After each event all that promises lead to happens before the next one. For that nobody waits for Node's event loop, which
 * costs more than most events do: a tick that a microtask asks for comes once no other microtask is left.
 */
import { setImmediate as idle } from 'node:timers/promises'

export interface VirtualTime {
  /** Milliseconds since the beginning. */
  now: () => number
  /** Returns a function that cancels it. */
  at: (milliseconds: number, event: () => void) => () => void
  /** Everything that happens until then; what promises lead to is waited for after each event. */
  run: (until: number) => Promise<void>
}

interface Entry {
  readonly at: number
  readonly serial: number
  event: (() => void) | undefined
}

/** Events between two rounds of the event loop. */
const events = 1000

export function virtualTime(): VirtualTime {
  let time = 0
  let serial = 0
  const heap: Entry[] = []
  const isEarlier = (one: Entry | undefined, other: Entry | undefined): boolean =>
    one !== undefined &&
    other !== undefined &&
    (one.at < other.at || (one.at === other.at && one.serial < other.serial))

  function exchange(one: number, other: number): void {
    const [first, second] = [heap[one], heap[other]]
    if (first !== undefined && second !== undefined) [heap[one], heap[other]] = [second, first]
  }

  function push(entry: Entry): void {
    heap.push(entry)
    for (let child = heap.length - 1; child > 0;) {
      const parent = (child - 1) >> 1
      if (!isEarlier(heap[child], heap[parent])) return
      exchange(child, parent)
      child = parent
    }
  }

  function pop(): void {
    exchange(0, heap.length - 1)
    heap.pop()
    for (let parent = 0; ;) {
      const [left, right] = [2 * parent + 1, 2 * parent + 2]
      const child = isEarlier(heap[right], heap[left]) ? right : left
      if (!isEarlier(heap[child], heap[parent])) return
      exchange(child, parent)
      parent = child
    }
  }

  /** So many events until then, at the most. */
  function happen(until: number, count: number, done: () => void): void {
    const [next] = heap
    if (next === undefined || next.at > until || count === 0) return done()
    pop()
    if (next.event !== undefined) {
      time = next.at
      next.event()
    }
    queueMicrotask(() => process.nextTick(happen, until, count - 1, done))
  }

  return {
    now: () => time,
    at(milliseconds, event) {
      const entry: Entry = { at: Math.max(milliseconds, time), serial: (serial += 1), event }
      push(entry)
      return () => void (entry.event = undefined)
    },
    async run(until) {
      await idle()
      for (;;) {
        await new Promise<void>((resolve) => happen(until, events, resolve))
        if ((heap[0]?.at ?? Number.POSITIVE_INFINITY) > until) break
        // For what comes from outside, such as a module that is loaded.
        await idle()
      }
      time = until
    },
  }
}
