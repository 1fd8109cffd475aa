/**
 * The renewal of one account: another look at its record, and one refresh if it still needs it. It is the refresh of every other
 * caller, with the intent and the lineage rule; only that nobody waits for it.
 */
import { ReauthenticationRequiredError, SignedOutError } from '../errors.ts'
import { accessTokenOf } from '../refresh-protocol/account-memory.ts'
import { landingInCall } from '../refresh-protocol/background.ts'
import { syncFromStoreAndSpool } from '../refresh-protocol/carry-over.ts'
import type { Context } from '../refresh-protocol/context.ts'
import { openIntent } from '../refresh-protocol/doubt.ts'
import { inFlightRefresh } from '../refresh-protocol/in-flight-refresh.ts'
import type { SignedIn } from '../tokens/token-record.ts'

/** `spared`: somebody else refreshed, signed in or signed out meanwhile. `in-vain`: nothing is new, and nothing failed. */
export type Renewal = 'refreshed' | 'spared' | 'sign-in-again' | 'in-vain'

/** @throws SsoError as a refresh does */
export async function renew(account: string, isDue: (record: SignedIn) => boolean, context: Context): Promise<Renewal> {
  const cache = context.memory.of(account)
  try {
    await syncFromStoreAndSpool(cache, context)
    const { record } = cache
    if (record?.state === 'reauthentication-required') return 'sign-in-again'
    if (record?.state !== 'signed-in' || !isDue(record)) return 'spared'
    const current = accessTokenOf(record)
    // What is in doubt keeps its time: a late success is worth waiting for, and a replay may end the session.
    if (openIntent(cache) === undefined) cache.unwanted ??= current
    await inFlightRefresh(cache, context).done.finally(() => {
      if (cache.unwanted === current) cache.unwanted = undefined
    })
    // Not for ever: the others have to have their turn.
    await landingInCall(cache, context.runtime)
    return accessTokenOf(cache.record) === current ? 'in-vain' : 'refreshed'
  } catch (error) {
    if (error instanceof ReauthenticationRequiredError) return 'sign-in-again'
    if (error instanceof SignedOutError) return 'spared'
    throw error
  }
}
