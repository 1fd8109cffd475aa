/**
 * Watching an account's record while another process refreshes: the store's own hint where it has one, and in any case a
 * look every 25 to 250 ms, jittered so that a herd does not look all at once.
 */
import type { TokenStore } from '../token-store.ts'
import type { Runtime } from './runtime.ts'

export interface RecordWatch {
  /** Resolves when it is worth reading again. */
  change(): Promise<void>
  close(): void
}

export function watchRecord(account: string, store: TokenStore, runtime: Runtime): RecordWatch {
  let hinted = false
  let wake: (() => void) | undefined
  let stop: (() => void) | undefined
  const hint = (): void => {
    hinted = true
    wake?.()
  }
  return {
    async change() {
      // From the first wait on: most refreshes wait for nobody. What was missed before it, the next look finds.
      stop ??= store.watch?.(account, hint)
      if (!hinted) {
        await new Promise<void>((resolve) => {
          const cancel = runtime.after(25 + 225 * runtime.random(), resolve)
          wake = () => {
            cancel()
            resolve()
          }
        })
      }
      hinted = false
      wake = undefined
    },
    close: () => stop?.(),
  }
}
