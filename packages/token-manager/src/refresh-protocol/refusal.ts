/**
 * Refusals: the owner API refuses one new access token after the other, as it does while it is broken. Each asks for another
 * refresh, so they are counted in the record, where every process finds them: the pause of `pace.ts` grows by them.
 */
import { StoreError } from '../errors.ts'
import type { SignedIn } from '../tokens/token-record.ts'
import { acceptRecord, accessTokenOf, type AccountCache, ageOf, writeOf } from './account-memory.ts'
import type { Context } from './context.ts'
import { isSameWrite } from './lineage.ts'
import { instantOf } from './runtime.ts'

/** Milliseconds. Nobody ever hears that a token was accepted; one that is refused later than this is taken for it. */
const useTime = 60_000

/** Whether the access token came of a refresh just now, so that its refusal means that it was never accepted. */
export function isUnused(cache: AccountCache, { runtime }: Context): boolean {
  const isRefreshed = cache.record?.state === 'signed-in' && cache.record.refreshes > 0
  return isRefreshed && ageOf(cache, instantOf(runtime)) < useTime
}

/** Whether the owner API refused the current access token, as far as this process or the record knows. */
export function isRefusedNow({ record, rejected }: AccountCache): boolean {
  const isNoted = record?.state === 'signed-in' && record.refusals?.thisOne === true
  return isNoted || (rejected !== undefined && rejected.accessToken === accessTokenOf(record))
}

/** Counts the refused token in the record. Where that can't be written now, `refusalsBefore` does it at the next refresh. */
export async function noteRefusal(cache: AccountCache, { runtime, store, refreshAfter }: Context): Promise<void> {
  const { record } = cache
  const write = writeOf(cache)
  if (record?.state !== 'signed-in' || record.refusals?.thisOne === true || cache.rejected?.unused !== true) return
  // Whoever is refreshing, or has tokens to save, writes the record itself.
  if (record.intent !== undefined || cache.inFlight !== undefined || cache.unsaved !== undefined) return
  const noted: SignedIn = { ...record, refusals: { inARow: inARow(record) + 1, thisOne: true } }
  try {
    const swapped = await store.swap(cache.account, write, noted, runtime.uniqueId())
    if ('conflict' in swapped || !isSameWrite(cache, write)) return
    acceptRecord(cache, { ...swapped, record: noted }, runtime, refreshAfter)
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
  }
}

/** What the record keeps of them when `replaced` gives way to new tokens: nothing, where its own were accepted. */
export function refusalsBefore({ rejected }: AccountCache, replaced: SignedIn): Pick<SignedIn, 'refusals'> {
  if (replaced.refusals?.thisOne === true) return { refusals: { inARow: inARow(replaced), thisOne: false } }
  const isRefused = rejected?.unused === true && rejected.accessToken === accessTokenOf(replaced)
  return isRefused ? { refusals: { inARow: inARow(replaced) + 1, thisOne: false } } : {}
}

const inARow = ({ refusals }: SignedIn): number => refusals?.inARow ?? 0
