/**
 * An alarm: it sleeps until a time, until something happens, or until it is stopped.
 */
import type { Runtime } from './runtime.ts'

export interface Alarm {
  rest(milliseconds: number): Promise<void>
  /** Ends this rest, or the next one where nobody rests. */
  ring(): void
  /** Ends this rest alone. */
  wake(): void
  /** Ends this rest, and lets nobody rest any more. */
  stop(): void
  isStopped(): boolean
}

export function createAlarm({ after }: Pick<Runtime, 'after'>): Alarm {
  let isRung = false
  let isStopped = false
  let wakeUp: (() => void) | undefined
  const wake = (): void => wakeUp?.()
  return {
    wake,
    ring() {
      isRung = true
      wake()
    },
    stop() {
      isStopped = true
      wake()
    },
    isStopped: () => isStopped,
    async rest(milliseconds) {
      if (!isRung && !isStopped) {
        await new Promise<void>((resolve) => {
          const cancel = after(milliseconds, resolve)
          wakeUp = () => {
            cancel()
            resolve()
          }
        })
      }
      isRung = false
      wakeUp = undefined
    },
  }
}
