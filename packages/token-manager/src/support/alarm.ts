/**
 * An alarm: it sleeps until a time, until something happens, or until it is stopped.
 */
import type { Runtime } from './runtime.ts'

export interface Alarm {
  rest(milliseconds: number): Promise<void>
  /** Ends this rest, or the next one where nobody rests. */
  ring(): void
  /** Rings, and lets nobody rest any more. */
  stop(): void
  isStopped(): boolean
}

export function createAlarm({ after }: Pick<Runtime, 'after'>): Alarm {
  let isRung = false
  let isStopped = false
  let wake: (() => void) | undefined
  const ring = (): void => {
    isRung = true
    wake?.()
  }
  return {
    ring,
    stop() {
      isStopped = true
      ring()
    },
    isStopped: () => isStopped,
    async rest(milliseconds) {
      if (!isRung) {
        await new Promise<void>((resolve) => {
          const cancel = after(milliseconds, resolve)
          wake = () => {
            cancel()
            resolve()
          }
        })
      }
      isRung = isStopped
      wake = undefined
    },
  }
}
