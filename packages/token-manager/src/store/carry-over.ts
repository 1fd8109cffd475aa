/**
 * Emptying the spool, in the background: again and again until nothing is left in it that can be carried over.
 */
import { isDamaged, mayBeOfOneRecord } from './record-failure.ts'
import type { Context } from '../kernel/context.ts'
import { run } from '../kernel/driver.ts'
import { findSpooled } from './spooled.ts'

/** After 250 ms, then after twice as long each time, up to 15 s, as a commit is repeated. */
export async function carryAllOver(context: Context): Promise<void> {
  const { runtime, underWay } = context
  for (let pause = 250; ; pause = Math.min(pause * 2, 15_000)) {
    // Whoever leaves leaves the spool to those who come.
    if (!underWay.isEnding() && (await underWay.track(carryOverOnce(context)))) return
    await new Promise<void>((resolve) => runtime.after(pause * (0.75 + 0.5 * runtime.random()), resolve))
  }
}

/** Returns whether nothing is left that a repetition could carry over. */
async function carryOverOnce(context: Context): Promise<boolean> {
  const { spool, memory, underWay } = context
  if (spool === undefined) return true
  let isAll = true
  try {
    for await (const name of spool.accounts()) {
      if (underWay.isEnding()) return false
      if ((await findSpooled(name, context)) === undefined) continue
      // Each look carries over what waits.
      await run(memory.of(name), { kind: 'look' }, context).catch((error: unknown) => {
        // One record that can't be read or written keeps no other from being carried over.
        if (!mayBeOfOneRecord(error)) throw error
        isAll &&= isDamaged(error)
      })
    }
    return isAll
  } catch (error) {
    // A store that is down comes back.
    return isAll && isDamaged(error)
  }
}
