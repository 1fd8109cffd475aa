/**
 * Watching an account's record while another process refreshes: the store's own hint where it has one, and in any case a
 * look every 25 to 250 ms, often while the refresh is young, and jittered so that a herd does not look all at once.
 */
import { createAlarm } from '../support/alarm.ts'
import { callSafely } from '../support/callback-fault.ts'
import type { GuardedStore } from '../store/guarded-store.ts'
import type { Runtime } from '../support/runtime.ts'

export interface RecordWatch {
  change(): Promise<void>
  close(): void
}

/** Milliseconds until the next look, at the least and at the most; the most grows by the least with each look. */
const soonest = 25
const latest = 250

export function watchRecord(account: string, store: Pick<GuardedStore, 'watch'>, runtime: Runtime): RecordWatch {
  const alarm = createAlarm(runtime)
  let looks = 0
  let stop: (() => void) | undefined
  return {
    async change() {
      // From the first wait on: most refreshes wait for nobody. What was missed before it, the next look finds.
      stop ??= startOf(store, account, () => alarm.ring())
      looks += 1
      const most = Math.min(soonest * (looks + 1), latest)
      await alarm.rest(soonest + (most - soonest) * runtime.random())
    },
    close: () => stop?.(),
  }
}

/** A hint is worth no failed refresh: a store whose watch fails is looked at as if it had none. */
function startOf(store: Pick<GuardedStore, 'watch'>, account: string, hint: () => void): () => void {
  let end: unknown
  callSafely("the store's watch", () => (end = store.watch?.(account, hint)))
  return () => callSafely("the end of the store's watch", () => (typeof end === 'function' ? end() : undefined))
}
