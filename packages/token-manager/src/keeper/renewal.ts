/**
 * The renewal of one account: another look at its record, and one refresh if it still needs it. It is the refresh of every other
 * caller, with the intent and the lineage rule; only that nobody waits for it.
 */
import { ReauthenticationRequiredError, SignedOutError } from '../errors.ts'
import { landingInCall, inFlightRefresh } from '../kernel/flight.ts'
import type { Context } from '../kernel/context.ts'
import { note, run } from '../kernel/driver.ts'
import { accessTokenOf, openIntent } from '../kernel/knowledge.ts'
import type { SignedIn } from '../store/token-record.ts'

/** `spared`: somebody else refreshed, signed in or signed out meanwhile. `in-vain`: nothing is new, and nothing failed. */
export type Renewal = 'refreshed' | 'spared' | 'sign-in-again' | 'in-vain'

/** @throws SsoError as a refresh does */
export async function renew(name: string, isDue: (record: SignedIn) => boolean, context: Context): Promise<Renewal> {
  const account = context.memory.of(name)
  try {
    await run(account, { kind: 'look' }, context)
    const { knowledge } = account
    const { record } = knowledge
    if (record?.state === 'reauthentication-required') return 'sign-in-again'
    if (record?.state !== 'signed-in' || !isDue(record)) return 'spared'
    const current = accessTokenOf(record)
    // What is in doubt keeps its time: a late success is worth waiting for, and a replay may end the session.
    const isAsking = openIntent(knowledge) === undefined && knowledge.toReplace === undefined
    if (isAsking) note(account, { on: 'replacement-asked', accessToken: current ?? '' }, context)
    account.isKeepersTurn = true
    await inFlightRefresh(account, context).done.finally(() => {
      account.isKeepersTurn = false
      note(account, { on: 'replacement-over', accessToken: current ?? '' }, context)
    })
    // Not for ever: the others have to have their turn.
    await landingInCall(account, context.runtime)
    return accessTokenOf(account.knowledge.record) === current ? 'in-vain' : 'refreshed'
  } catch (error) {
    if (error instanceof ReauthenticationRequiredError) return 'sign-in-again'
    if (error instanceof SignedOutError) return 'spared'
    throw error
  }
}
