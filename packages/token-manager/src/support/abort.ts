/**
 * Waiting for a caller's AbortSignal. Any number of calls may share one, and Node warns of a leak from its eleventh listener
 * on; so a signal has one listener of ours, which tells all who wait.
 */
interface Waiting {
  readonly callbacks: Set<() => void>
  readonly tellAll: () => void
}

const waiting = new WeakMap<AbortSignal, Waiting>()

/** Calls back once `signal` is aborted; at once where it is already. Returns an unsubscribe function. */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (signal === undefined) return () => undefined
  if (signal.aborted) {
    callback()
    return () => undefined
  }
  // Of its own, so that the same function may wait twice.
  const entry = (): void => callback()
  const { callbacks, tellAll } = waiting.get(signal) ?? listen(signal)
  callbacks.add(entry)
  return () => {
    callbacks.delete(entry)
    if (callbacks.size > 0) return
    signal.removeEventListener('abort', tellAll)
    waiting.delete(signal)
  }
}

function listen(signal: AbortSignal): Waiting {
  const callbacks = new Set<() => void>()
  const tellAll = (): void => {
    waiting.delete(signal)
    for (const entry of callbacks) entry()
  }
  signal.addEventListener('abort', tellAll, { once: true })
  const created = { callbacks, tellAll }
  waiting.set(signal, created)
  return created
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
