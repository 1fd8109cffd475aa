/**
 * The alarm of a keeper: it sleeps until a time, until something happens, or until it is stopped.
 */
import type { Runtime } from '../support/runtime.ts'

export interface Alarm {
  rest(milliseconds: number): Promise<void>
  ring(): void
  /** Rings, and lets nobody rest any more. */
  stop(): void
  isStopped(): boolean
}

export function createAlarm({ after }: Pick<Runtime, 'after'>): Alarm {
  let wake: (() => void) | undefined
  let stopped = false
  const ring = (): void => wake?.()
  return {
    ring,
    stop() {
      stopped = true
      ring()
    },
    isStopped: () => stopped,
    async rest(milliseconds) {
      if (stopped) return
      await new Promise<void>((resolve) => {
        const cancel = after(milliseconds, resolve)
        wake = () => {
          cancel()
          resolve()
        }
      })
      wake = undefined
    },
  }
}
