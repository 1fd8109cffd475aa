/**
 * Waiting for a caller's AbortSignal.
 */
import { setMaxListeners } from 'node:events'

/** Calls back once `signal` is aborted; at once where it is already. Returns an unsubscribe function. */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (signal?.aborted === true) callback()
  if (signal === undefined || signal.aborted) return () => undefined
  manyMayListenTo(signal)
  // Of its own, so that the same function may wait twice.
  const listener = (): void => callback()
  signal.addEventListener('abort', listener, { once: true })
  return () => signal.removeEventListener('abort', listener)
}

/** Any number of calls may share one, as on a server that ends all of them when it stops. Node warns of a leak from the eleventh on. */
function manyMayListenTo(signal: AbortSignal): void {
  try {
    setMaxListeners(0, signal)
  } catch {
    // A library's own kind of signal, which Node does not count for.
  }
}

/** Waits for `outcome`, but not after `signal` was aborted. @throws what `aborted` makes then */
export async function unlessAborted<T>(
  outcome: Promise<T>,
  signal: AbortSignal | undefined,
  aborted: () => Error,
): Promise<T> {
  let unsubscribe: (() => void) | undefined
  const over = new Promise<never>((_, reject) => {
    unsubscribe = onAbort(signal, () => reject(aborted()))
  })
  try {
    return await Promise.race([outcome, over])
  } finally {
    unsubscribe?.()
  }
}
