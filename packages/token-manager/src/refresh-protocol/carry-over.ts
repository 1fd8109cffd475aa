/**
 * Carrying over what waits in the spool: each time an account's record is read, and for all accounts when a manager begins,
 * again and again until the spool is empty.
 */
import { isDamaged, mayBeOfOneRecord } from './record-failure.ts'
import type { AccountCache } from './account-memory.ts'
import { commitRecord } from './commit.ts'
import type { Context } from './context.ts'
import { syncFromStore } from './read-record.ts'
import type { Spooled } from './spool.ts'

/** Reads the record and, at the same time, the spool. Returns whether there is a record. @throws StoreError */
export async function syncFromStoreAndSpool(cache: AccountCache, context: Context): Promise<boolean> {
  // Both at once, so that the spool costs no time of its own.
  const [isThere, spooled] = await Promise.all([syncFromStore(cache, context), findSpooled(cache.account, context)])
  if (spooled === undefined || cache.unsaved !== undefined) return isThere
  await carryOver(cache, spooled, context)
  return true
}

/** Begins to empty the spool, in the background. */
export function beginCarryingOver(context: Context): void {
  void carryAllOver(context)
}

/** What a sign-in or a sign-out has made worthless. Where the spool does not answer, the next look takes it out. */
export async function dropSpooled(account: string, context: Context): Promise<void> {
  const spooled = await findSpooled(account, context)
  if (spooled !== undefined) await context.spool?.clear(account, spooled.at).catch(() => false)
}

/** The spool only helps: where it can't be read, the store alone decides, as it would without one. */
async function findSpooled(account: string, { spool, reportSpool }: Context): Promise<Spooled | undefined> {
  try {
    return await spool?.find(account)
  } catch (error) {
    reportSpool(error)
    return undefined
  }
}

/** @throws StoreError where the store does not take them yet: they stay in the spool */
async function carryOver(cache: AccountCache, spooled: Spooled, context: Context): Promise<void> {
  const { account } = cache
  const placing = { writeId: context.runtime.uniqueId(), spooledAt: spooled.version }
  const ending = await commitRecord(cache, spooled, placing, context)
  // Several processes may carry them over, and all come to the same record; one of them tells.
  const cleared = await context.spool?.clear(account, spooled.at).catch(() => false)
  if (cleared && ending === 'saved') context.emit('carried-over', { account })
}

/** After 250 ms, then after twice as long each time, up to 15 s, as a commit is repeated. */
async function carryAllOver(context: Context): Promise<void> {
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
    for await (const account of spool.accounts()) {
      if (underWay.isEnding()) return false
      const spooled = await findSpooled(account, context)
      if (spooled === undefined) continue
      const cache = memory.of(account)
      if (cache.unsaved !== undefined) continue
      await carryOver(cache, spooled, context).catch((error: unknown) => {
        // One record that can't be read or written keeps no other from being carried over.
        if (!mayBeOfOneRecord(error)) throw error
        isAll &&= isDamaged(error)
      })
    }
    return isAll
  } catch (error) {
    // A store that is down comes back.
    return isDamaged(error)
  }
}
