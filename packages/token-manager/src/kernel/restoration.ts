/**
 * Restoration: what becomes of an account that the store has lost, or has an older record of. A process that still holds the
 * newer one puts it back.
 */
import { joined, withEvent } from '../store/history.ts'
import { ancestryOver, descends, isBehind, sessionOf, type VersionedRecord } from '../store/lineage.ts'
import type { AccountRecord } from '../store/token-record.ts'
import { type Knowledge, type Moment, openIntent, writeOf } from './knowledge.ts'
import { seconds } from './steps.ts'

/**
 * What has to be put into the store in place of `stored`; nothing where that is to be believed. It is a memory, and another
 * process may remember more: so it goes in with an intent, as one that nobody may send yet, and as one in doubt from then on.
 */
export function restorationOf(
  known: Knowledge,
  stored: VersionedRecord | undefined,
  now: Moment,
): AccountRecord | undefined {
  const { record } = known
  if (record === undefined) return undefined
  const putBack = (remembered: AccountRecord, before: AccountRecord | undefined): AccountRecord => {
    const both = { ...remembered, history: joined(before?.history, remembered.history) }
    return withEvent(inDoubtAgain(both, known, now), { what: 'restored' }, now)
  }
  if (stored === undefined || isBehind(stored, { ...writeOf(known), record })) return putBack(record, stored?.record)
  if (!isOlderMemory(stored.record, record, now)) return undefined
  return putBack({ ...record, ...ancestryOver(sessionOf(record), record, stored.record) }, stored.record)
}

/** A new intent, because its life begins anew: another process's tokens may have been put back meanwhile. */
function inDoubtAgain(record: AccountRecord, known: Knowledge, now: Moment): AccountRecord {
  if (record.state !== 'signed-in') return record
  const { replay, at } = openIntent(known) ?? { replay: 0, at: seconds(now) }
  return { ...record, intent: { id: now.uniqueId(), holder: now.holder, replay, at, restored: true } }
}

/** Seconds that clocks may differ and still be believed. */
const aDay = 86_400

/**
 * Of two memories that know nothing of each other, the later counts. It takes two losses and a sign-in between them to get
 * there, and it is the one place where clocks decide: a time that has yet to come is not believed, so that a clock that was
 * ahead does no harm for ever.
 */
function isOlderMemory(stored: AccountRecord, seen: AccountRecord, now: Moment): boolean {
  if (stored.state !== 'signed-in' || stored.intent?.restored !== true) return false
  if (sessionOf(stored) === sessionOf(seen) || descends(stored, seen)) return false
  const toldAt = (record: AccountRecord): number => {
    const at = record.state === 'signed-out' ? (record.signed_out_at ?? 0) : record.obtained_at
    return at > now.wall / 1000 + aDay ? 0 : at
  }
  return toldAt(stored) < toldAt(seen)
}
