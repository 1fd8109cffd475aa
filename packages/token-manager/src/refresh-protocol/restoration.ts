/**
 * Restoration: what becomes of an account that the store has lost, or has an older record of. A process that still holds the
 * newer one puts it back.
 *
 * What is put back is a memory, and another process may remember more: its refresh token may have been spent. So it goes in
 * with an intent, as one that nobody may send yet (`restorationLife`), and as one in doubt from then on: it is sent where its
 * access token is about to end. Until then whoever looks, and the roll call makes every living process look, puts the newer
 * tokens or the sign-out over it.
 */
import type { AccountRecord, SignedIn } from '../tokens/token-record.ts'
import { type AccountCache, writeOf } from './account-memory.ts'
import { ancestryOver, descends, sessionOf } from './ancestry.ts'
import type { Context } from './context.ts'
import { openIntent } from './doubt.ts'
import { isBehind, type VersionedRecord } from './lineage.ts'

/**
 * What has to be put into the store in place of `stored`; nothing where that is to be believed.
 *
 * @param stored - `undefined` where the store has nothing
 */
export function restorationOf(
  cache: AccountCache,
  stored: VersionedRecord | undefined,
  context: Pick<Context, 'runtime'>,
): AccountRecord | undefined {
  const { record } = cache
  if (record === undefined) return undefined
  if (stored === undefined || isBehind(stored, { ...writeOf(cache), record }))
    return inDoubtAgain(record, cache, context)
  if (!isOlderMemory(stored.record, record, context)) return undefined
  return inDoubtAgain({ ...record, ...ancestryOver(sessionOf(record), record, stored.record) }, cache, context)
}

/** A new intent, because its life begins anew: another process's tokens may have been put back meanwhile. */
export function inDoubtAgain(
  record: AccountRecord,
  cache: AccountCache,
  { runtime }: Pick<Context, 'runtime'>,
): AccountRecord {
  if (record.state !== 'signed-in') return record
  const { replay, at } = openIntent(cache) ?? { replay: 0, at: Math.floor(runtime.wallClock() / 1000) }
  return { ...record, intent: { id: runtime.uniqueId(), holder: runtime.holder, replay, at, restored: true } }
}

/**
 * Of two memories that know nothing of each other, the later counts. It takes two losses and a sign-in between them to get
 * there, and it is the one place where clocks decide: a time that has yet to come is not believed, so that a clock that was
 * ahead does no harm for ever.
 */
function isOlderMemory(stored: AccountRecord, seen: AccountRecord, { runtime }: Pick<Context, 'runtime'>): boolean {
  if (stored.state !== 'signed-in' || stored.intent?.restored !== true) return false
  if (sessionOf(stored) === sessionOf(seen) || descends(stored, seen)) return false
  const latest = runtime.wallClock() / 1000 + aDay
  const toldAt = (record: SignedIn | AccountRecord): number => {
    const at = record.state === 'signed-out' ? (record.signed_out_at ?? 0) : record.obtained_at
    return at > latest ? 0 : at
  }
  return toldAt(stored) < toldAt(seen)
}

/** Seconds that clocks may differ and still be believed. */
const aDay = 86_400
