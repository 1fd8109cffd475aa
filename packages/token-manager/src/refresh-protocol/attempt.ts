/**
 * One attempt: the intent goes in, the one request goes out, and its outcome is put where every process finds it.
 */
import type { Probe } from '../issuer/firewall-state.ts'
import type { Intent, SignedIn } from '../tokens/token-record.ts'
import { acceptRecord, type AccountCache, writeOf } from './account-memory.ts'
import { type AttemptOutcome, conclude } from './conclusion.ts'
import type { Context } from './context.ts'
import { isInGrace, openIntent } from './doubt.ts'
import { isSameWrite, type Write } from './lineage.ts'
import { SendGuardError, outcomeOf } from './outcome.ts'
import { givenUp, withOwnIntent } from './own-intents.ts'
import { throwIfBackingOff } from './back-off.ts'
import { requestTimeout } from './rules.ts'
import { elapsed, instantOf } from './runtime.ts'
import { spendTurn, waitForTurn } from './turn.ts'
import { traceRefresh } from './refresh-trace.ts'

/**
 * @param upon - the record upon which it was decided
 * @throws SsoError as the outcome says, once the record says so too
 */
export async function attempt(
  cache: AccountCache,
  upon: Write,
  replay: boolean,
  context: Context,
): Promise<AttemptOutcome> {
  const { record } = cache
  if (record?.state !== 'signed-in') return 'again'
  throwIfBackingOff(cache, context)
  const { auth_url } = record.tokens
  // Another process may have refreshed while this one waited: look again.
  if (!context.breaker.isBlocked(auth_url) && (await waitForTurn(cache, auth_url, context))) return 'again'
  const probe = await context.breaker.enter(auth_url)
  // Since the decision another call may have read the record, and seen another process's intent: that must not be swapped
  // away.
  if (!isSameWrite(cache, upon)) return unused(probe)
  return holdAndSend(cache, record, replay, probe, context)
}

/** Nothing was sent: whoever comes next may probe. */
async function unused(probe: Probe | undefined): Promise<'again'> {
  await probe?.giveBack()
  return 'again'
}

async function holdAndSend(
  cache: AccountCache,
  record: SignedIn,
  replay: boolean,
  probe: Probe | undefined,
  context: Context,
): Promise<AttemptOutcome> {
  const { account } = cache
  const { runtime, rules, store, sso } = context
  const swappedAt = instantOf(runtime)
  const unanswered = replay ? openIntent(cache) : undefined
  const intent = newIntent(unanswered, context)
  const before = unanswered && givenUp(unanswered)
  const grace = unanswered && isInGrace(cache, unanswered, context) ? unanswered : undefined
  // Even if the store never tells: until something is sent, this intent changes nothing about the refresh token.
  cache.ownIntents = withOwnIntent(cache.ownIntents, { id: intent.id, spent: false, before }, record)
  const swap = store.swap(account, writeOf(cache), rules.withIntent(record, intent), runtime.uniqueId())
  const swapped = await swap.catch(async (error: unknown) => {
    await unused(probe)
    throw error
  })
  if ('conflict' in swapped) return unused(probe)
  const held = { ...swapped, record: rules.withIntent(record, intent) }
  acceptRecord(cache, held, runtime, context.refreshAfter)

  const turn = spendTurn(cache, context)
  let sentAt = swappedAt
  const beforeSend = (): void => {
    sentAt = instantOf(runtime)
    if (!rules.maySend(elapsed(swappedAt, sentAt)) || !turn.isGood()) throw new SendGuardError()
    // A replay for the grace's sake does no good once that is over: look again whether it is due.
    if (grace !== undefined && !isInGrace(cache, grace, context)) throw new SendGuardError()
  }
  const trace = traceRefresh({ account, auth_url: record.tokens.auth_url, replay }, () =>
    outcomeOf(() => sso.refresh(record.tokens, { timeout: requestTimeout, beforeSend }), record.tokens),
  )
  const outcome = await trace.outcome
  turn.end()
  // Before the intent goes out: whoever waited for that may send then.
  if (outcome.kind === 'unspent' && !outcome.error.requestSent) await unused(probe)
  try {
    return await conclude(cache, { derivedFrom: record, held, intent, before, sentAt, outcome, replay }, context)
  } finally {
    trace.endAfter(cache.unsaved?.safe)
  }
}

function newIntent(unanswered: Intent | undefined, { runtime }: Context): Intent {
  return {
    id: runtime.uniqueId(),
    holder: runtime.holder,
    replay: unanswered === undefined ? 0 : unanswered.replay + 1,
    at: Math.floor(runtime.wallClock() / 1000),
  }
}
