/**
 * How often a person answered a sign-in that waits for them, counted for all processes that share the store.
 *
 * What waits is sealed and handed around, and copies of it are cheap. So each answer is claimed here, by a swap, before it is
 * sent. The counts are kept in a fixed number of records of their own, and removed some time after their sign-in is over.
 */
import { createHash } from 'node:crypto'
import { StoreError } from '../errors.ts'
import type { WaitingSignIn } from './token-manager.ts'
import type { TriesRecord } from '../store/token-record.ts'
import { untilSwapped, type GuardedStore } from '../store/guarded-store.ts'
import { readOwnRecord, triesRecordName } from '../store/own-record.ts'
import type { Runtime } from '../support/runtime.ts'

/** Records for each kind of answer. More of them would only spread the counts wider. */
const records = 64

/** Sign-ins that a record counts at most: those that are over make room, and nobody else does. */
const mostSignIns = 500

/** Seconds that a count outlives its sign-in, for processes whose clocks are behind: at the most, and where others need its room. */
const margin = 60 * 60
const leastMargin = 5 * 60

const uncounted: TriesRecord = { schema: 1, state: 'tries', sign_ins: {} }

/**
 * True for the process that may send this answer; false where it, or a later one, was claimed before.
 *
 * @throws StoreError; `busy` where every claim meets a conflict, or its record is full: then nobody may send
 */
export async function claimTry(
  { id, step, tries, expires_at }: WaitingSignIn,
  { store, runtime }: { readonly store: Pick<GuardedStore, 'read' | 'swap'>; readonly runtime: Runtime },
): Promise<boolean> {
  const digest = createHash('sha256').update(id).digest()
  const name = triesRecordName(step, digest.readUInt8(31) % records)
  const key = digest.toString('base64url').slice(0, 16)
  return untilSwapped(runtime, async () => {
    const stored = await readOwnRecord(name, uncounted, { store, runtime })
    const counts = new Map(Object.entries(stored?.record.sign_ins ?? {}))
    const [claimed] = counts.get(key) ?? [0]
    if (tries < claimed) return false
    counts.set(key, [tries + 1, expires_at])
    const swapped = await store.swap(name, stored, recordOf(counts, runtime), runtime.uniqueId())
    return 'conflict' in swapped ? undefined : true
  })
}

function recordOf(counts: ReadonlyMap<string, TriesRecord['sign_ins'][string]>, runtime: Runtime): TriesRecord {
  const now = runtime.wallClock() / 1000
  const within = (seconds: number) => [...counts].filter(([, [, expiresAt]]) => expiresAt + seconds > now)
  const all = within(margin)
  const kept = all.length > mostSignIns ? within(leastMargin) : all
  // A count that is dropped could be begun again.
  if (kept.length > mostSignIns) throw new StoreError('busy', 'Too many sign-ins wait: their answers can’t be counted.')
  return { schema: 1, state: 'tries', sign_ins: Object.fromEntries(kept) }
}
