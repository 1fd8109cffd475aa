/**
 * One refresh, from the look at the record to the new token in memory: the story that `docs/refresh-protocol.md` tells.
 */
import { ReauthenticationRequiredError, SignedOutError, StoreError } from '../errors.ts'
import { writeOf } from './account-memory.ts'
import type { Known } from './account-memory.ts'
import { attempt } from './attempt.ts'
import { lookEverywhere } from './carry-over.ts'
import { mostConflicts, tooManyConflicts } from './contention.ts'
import type { Context } from './context.ts'
import { inDoubt } from './doubt.ts'
import { isSameWrite } from './lineage.ts'
import type { Write } from './lineage.ts'
import { watchRecord } from './record-watch.ts'
import type { Decision } from './rules.ts'
import { situationOf } from './situation.ts'

/**
 * Sees to it that the newest access token is in memory: takes what another process stored, waits for one that is at it,
 * or sends the one request.
 *
 * @param looked - called whenever the record was read
 * @throws SsoError where that is not possible now; the token in memory may still be usable
 */
export async function refresh(known: Known, context: Context, looked: () => void): Promise<void> {
  if (known.unsaved !== undefined) throw known.unsaved.error ?? new StoreError('busy', 'New tokens are being stored.')
  const began = context.runtime.monotonicClock()
  const watch = watchRecord(known.account, context.store, context.runtime)
  try {
    for (let conflicts = 0; ;) {
      const { decision, upon } = await decide(known, context, began)
      looked()
      if (decision === 'answer') return
      if (decision === 'wait') await watch.change()
      else if (decision === 'send' || decision === 'replay') {
        if ((await attempt(known, upon, decision === 'replay', context)) === 'done') return
        // What stood in the way is in the next look, unless that lags behind what is written.
        if ((conflicts += 1) >= mostConflicts) throw tooManyConflicts()
      } else throw reasonFor(decision, known, context)
    }
  } finally {
    watch.close()
  }
}

interface Decided {
  readonly decision: Decision
  /** The record that it was made upon. */
  readonly upon: Write
}

async function decide(known: Known, context: Context, began: number): Promise<Decided> {
  const host = hostOf(known)
  const before = writeOf(known)
  // Both at once, so that a store far away costs one round trip.
  const [stored] = await Promise.all([lookEverywhere(known, context), host && context.breaker.sync(host)])
  const decision = context.rules.decide(situationOf(known, stored, context))
  const upon = writeOf(known)
  const now = hostOf(known)
  // Another's block may have been written between the two reads: then the record has changed as well.
  const isOutdated = now !== host || !isSameWrite(upon, before)
  if ((decision === 'send' || decision === 'replay') && isOutdated) await context.breaker.sync(now ?? '')
  if (decision !== 'wait') return { decision, upon }
  // This process is leaving, and nobody in it needs the token: another one is at it.
  if (context.underWay.isEnding() && known.callers === 0) return { decision: 'defer', upon }
  return { decision: context.rules.afterWaiting(context.runtime.monotonicClock() - began), upon }
}

function reasonFor(decision: Decision, known: Known, context: Context): Error {
  const options = { step: 'token-manager', requestSent: false } as const
  if (decision === 'not-signed-in') return new SignedOutError(options)
  if (decision === 'defer') return inDoubt(known, context)
  const { reason, description } =
    known.record?.state === 'reauthentication-required' ? known.record : ({ reason: 'refresh_token_rejected' } as const)
  return new ReauthenticationRequiredError(reason, options, description)
}

function hostOf({ record }: Known): string | undefined {
  return record?.state === 'signed-in' ? record.tokens.auth_url : undefined
}
