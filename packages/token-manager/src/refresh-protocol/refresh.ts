/**
 * One refresh, from the look at the record to the new token in memory: the story that `docs/internals/refresh-protocol.md` tells.
 */
import { OtherOwnerError, ReauthenticationRequiredError, SignedOutError, StoreError } from '../errors.ts'
import { accessTokenOf, type AccountCache, freshnessOf, isUsable, writeOf } from './account-memory.ts'
import { attempt } from './attempt.ts'
import { syncFromStoreAndSpool } from './carry-over.ts'
import { mostConflicts, tooManyConflicts } from './contention.ts'
import type { Context } from './context.ts'
import { inDoubt, isHeldUp, isInGrace, isIntentAlive, openIntent, replayBackOffLeft } from './doubt.ts'
import { isSameWrite, type Write } from './lineage.ts'
import { watchRecord } from './record-watch.ts'
import { isJustRefreshed } from './pace.ts'
import type { Decision, Situation } from './rules.ts'
import { instantOf } from './runtime.ts'
import { leaveTurn } from './turn.ts'

/**
 * Sees to it that the newest access token is in memory: takes what another process stored, waits for one that is at it,
 * or sends the one request.
 *
 * @param synced - called whenever the record was read
 * @throws SsoError where that is not possible now; the token in memory may still be usable
 */
export async function refresh(cache: AccountCache, context: Context, synced: () => void): Promise<void> {
  if (cache.unsaved !== undefined) throw cache.unsaved.error ?? new StoreError('busy', 'New tokens are being stored.')
  const began = context.runtime.monotonicClock()
  let isAnnounced = false
  const watch = watchRecord(cache.account, context.store, context.runtime)
  try {
    for (let conflicts = 0; ;) {
      const { decision, upon } = await decide(cache, context, began)
      synced()
      if (decision === 'serve') return
      if (decision === 'wait') {
        if (!isAnnounced && isHeldUp(cache, context)) {
          isAnnounced = true
          context.emit('in-doubt', { account: cache.account, nextAttemptAt: inDoubt(cache, context).nextAttemptAt })
        }
        await watch.change()
      } else if (decision === 'send' || decision === 'replay') {
        if ((await attempt(cache, upon, decision === 'replay', context)) === 'done') return
        // What stood in the way is in the next look, unless that lags behind what is written.
        if ((conflicts += 1) >= mostConflicts) throw tooManyConflicts()
      } else throw reasonFor(decision, cache, context)
    }
  } finally {
    leaveTurn(cache, context)
    watch.close()
  }
}

interface Decided {
  readonly decision: Decision
  /** The record that it was made upon. */
  readonly upon: Write
}

async function decide(cache: AccountCache, context: Context, began: number): Promise<Decided> {
  const host = hostOf(cache)
  const before = writeOf(cache)
  // Both at once, so that a store far away costs one round trip.
  const [stored] = await Promise.all([syncFromStoreAndSpool(cache, context), host && context.breaker.sync(host)])
  const decision = context.rules.decide(situationOf(cache, stored, context))
  const upon = writeOf(cache)
  const now = hostOf(cache)
  // Another's block may have been written between the two reads: then the record has changed as well.
  const isOutdated = now !== host || !isSameWrite(upon, before)
  if ((decision === 'send' || decision === 'replay') && isOutdated) await context.breaker.sync(now ?? '')
  if (decision !== 'wait') return { decision, upon }
  if (isLeftToOthers(cache, context)) return { decision: 'defer', upon }
  return { decision: context.rules.afterWaiting(context.runtime.monotonicClock() - began), upon }
}

/** Nobody in this process needs the token that another one is getting, and this one is leaving, or may be frozen any time. */
function isLeftToOthers(cache: AccountCache, { underWay, background, runtime }: Context): boolean {
  const isNeeded = cache.callers > 0
  if (background.outlivesCalls) return underWay.isEnding() && !isNeeded
  return !isNeeded || (cache.unwanted === undefined && isUsable(cache, instantOf(runtime)))
}

/**
 * What this process knows of an account at the moment of a decision, for the rules.
 *
 * @param stored - whether the store has a record of the account
 */
function situationOf(cache: AccountCache, stored: boolean, context: Context): Situation {
  const { record, rejected, unwanted } = cache
  const now = instantOf(context.runtime)
  const intent = openIntent(cache)
  const accessToken = accessTokenOf(record)
  return {
    record: stored ? record : undefined,
    freshness: freshnessOf(cache, now),
    unwanted: accessToken !== undefined && (accessToken === unwanted || accessToken === rejected?.accessToken),
    justRefreshed: isJustRefreshed(cache, context),
    intent,
    intentAlive: intent !== undefined && isIntentAlive(cache, intent, context),
    inGrace: intent !== undefined && isInGrace(cache, intent, context),
    replayBackedOff: intent === undefined || replayBackOffLeft(cache, intent, context) <= 0,
  }
}

function reasonFor(decision: Decision, cache: AccountCache, context: Context): Error {
  const options = { step: 'token-manager', requestSent: false } as const
  if (decision === 'not-signed-in') return new SignedOutError(options)
  if (decision === 'defer') return inDoubt(cache, context)
  const { reason, description } =
    cache.record?.state === 'reauthentication-required' ? cache.record : ({ reason: 'refresh_token_rejected' } as const)
  if (reason === 'other_owner') return new OtherOwnerError(options)
  return new ReauthenticationRequiredError(reason, options, description)
}

function hostOf({ record }: AccountCache): string | undefined {
  return record?.state === 'signed-in' ? record.tokens.auth_url : undefined
}
