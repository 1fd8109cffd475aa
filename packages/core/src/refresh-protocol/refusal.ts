/**
 * Refusals: the owner API refuses one new access token after the other, as it does while it is broken. Each asks for another
 * refresh, so they are counted in the record, where every process finds them: the pause of `pace.ts` grows by them.
 */
import { StoreError } from '../errors.ts'
import type { SignedIn } from '../tokens/token-record.ts'
import { accessTokenOf, adopt, ageOf, writeOf } from './account-memory.ts'
import type { Known } from './account-memory.ts'
import type { Context } from './context.ts'
import { isSameWrite } from './lineage.ts'
import { instantOf } from './runtime.ts'

/** Milliseconds. Nobody ever hears that a token was accepted; one that is refused later than this is taken for it. */
const useTime = 60_000

/** Whether the access token came of a refresh just now, so that its refusal means that it was never accepted. */
export function isUnused(known: Known, { runtime }: Context): boolean {
  const isRefreshed = known.record?.state === 'signed-in' && known.record.refreshes > 0
  return isRefreshed && ageOf(known, instantOf(runtime)) < useTime
}

/** Counts the refused token in the record. Where that can't be written now, `refusalsBefore` does it at the next refresh. */
export async function noteRefusal(known: Known, { runtime, store, refreshAfter }: Context): Promise<void> {
  const { record } = known
  const write = writeOf(known)
  if (record?.state !== 'signed-in' || record.refusals?.thisOne === true || known.rejected?.unused !== true) return
  // Whoever is refreshing, or has tokens to save, writes the record itself.
  if (record.intent !== undefined || known.flight !== undefined || known.unsaved !== undefined) return
  const noted: SignedIn = { ...record, refusals: { inARow: inARow(record) + 1, thisOne: true } }
  try {
    const answer = await store.swap(known.account, write, noted, runtime.uniqueId())
    if ('conflict' in answer || !isSameWrite(known, write)) return
    adopt(known, { ...answer, record: noted }, runtime, refreshAfter)
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
  }
}

/** What the record keeps of them when `replaced` gives way to new tokens: nothing, where its own were accepted. */
export function refusalsBefore({ rejected }: Known, replaced: SignedIn): Pick<SignedIn, 'refusals'> {
  if (replaced.refusals?.thisOne === true) return { refusals: { inARow: inARow(replaced), thisOne: false } }
  const isRefused = rejected?.unused === true && rejected.accessToken === accessTokenOf(replaced)
  return isRefused ? { refusals: { inARow: inARow(replaced) + 1, thisOne: false } } : {}
}

const inARow = ({ refusals }: SignedIn): number => refusals?.inARow ?? 0
