/**
 * Writing over what was read, again after each conflict, for as long as that makes sense: who reads a replica that lags behind
 * would try for ever.
 */
import { StoreError } from '../errors.ts'
import type { Runtime } from '../support/runtime.ts'

/** So many changes by others, each between a read and a swap, are no coincidence. */
export const mostConflicts = 32
/** Milliseconds until each further try: a replica has some three seconds to catch up. */
export const pauses: readonly number[] = [50, 100, 200, 400, 800, 1600]

/**
 * Repeats a read and its swap until that comes to something.
 *
 * @param tryOnce - answers nothing for a conflict
 * @throws StoreError `busy` where there are conflicts all the time
 */
export async function untilSwapped<Value>(
  { after, keepAlive }: Pick<Runtime, 'after' | 'keepAlive'>,
  tryOnce: () => Promise<Value | undefined>,
): Promise<Value> {
  for (let conflicts = 0; ;) {
    const value = await tryOnce()
    if (value !== undefined) return value
    conflicts += 1
    if (conflicts < mostConflicts) continue
    const pause = pauses[conflicts - mostConflicts]
    if (pause === undefined) throw tooManyConflicts()
    const end = keepAlive()
    await new Promise<void>((resolve) => after(pause, resolve))
    end()
  }
}

export function tooManyConflicts(): StoreError {
  return new StoreError(
    'busy',
    'Every write to the token store ended in a conflict: others keep changing the record, or its reads lag behind its writes.',
  )
}
