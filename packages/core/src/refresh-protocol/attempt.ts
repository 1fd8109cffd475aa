/**
 * One attempt: the intent goes in, the one request goes out, and its outcome is put where every process finds it.
 */
import type { Intent, SignedIn } from '../tokens/token-record.ts'
import { adopt, writeOf } from './account-memory.ts'
import type { Known } from './account-memory.ts'
import { conclude } from './conclusion.ts'
import type { Attempted } from './conclusion.ts'
import type { Context } from './context.ts'
import { isInGrace, openIntent } from './doubt.ts'
import { isSameWrite } from './lineage.ts'
import type { Write } from './lineage.ts'
import { SendGuardError, outcomeOf } from './outcome.ts'
import { givenUp, withOwnIntent } from './own-intents.ts'
import { refuseWhileResting } from './rest.ts'
import { requestDeadline } from './rules.ts'
import { elapsed, instantOf } from './runtime.ts'
import { traced } from './trace.ts'

/**
 * @param upon - the record upon which it was decided
 * @throws SsoError as the outcome says, once the record says so too
 */
export async function attempt(known: Known, upon: Write, replay: boolean, context: Context): Promise<Attempted> {
  const { record } = known
  if (record?.state !== 'signed-in') return 'again'
  refuseWhileResting(known, context)
  await context.breaker.enter(record.tokens.auth_url)
  // Since the decision another call may have looked at the record, and seen what another process does: its intent is none
  // to swap ours over.
  if (!isSameWrite(known, upon)) return 'again'
  return holdAndSend(known, record, replay, context)
}

async function holdAndSend(known: Known, record: SignedIn, replay: boolean, context: Context): Promise<Attempted> {
  const { account } = known
  const { runtime, rules, store, sso } = context
  const swappedAt = instantOf(runtime)
  const unanswered = replay ? openIntent(known) : undefined
  const intent = newIntent(unanswered, context)
  const before = unanswered && givenUp(unanswered)
  const grace = unanswered && isInGrace(known, unanswered, context) ? unanswered : undefined
  // Even if the store never tells: until something is sent, this intent changes nothing about the refresh token.
  known.ownIntents = withOwnIntent(known.ownIntents, { id: intent.id, spent: false, before }, record)
  const answer = await store.swap(account, writeOf(known), rules.withIntent(record, intent), runtime.uniqueId())
  if ('conflict' in answer) return 'again'
  const held = { ...answer, record: rules.withIntent(record, intent) }
  adopt(known, held, runtime, context.refreshAfter)

  let sentAt = swappedAt
  const beforeSend = (): void => {
    sentAt = instantOf(runtime)
    if (!rules.maySend(elapsed(swappedAt, sentAt))) throw new SendGuardError()
    // A replay for the grace's sake does no good once that is over: look again whether it is due.
    if (grace !== undefined && !isInGrace(known, grace, context)) throw new SendGuardError()
  }
  const trace = traced({ account, auth_url: record.tokens.auth_url, replay }, () =>
    outcomeOf(() => sso.refresh(record.tokens, { timeout: requestDeadline, beforeSend })),
  )
  const outcome = await trace.outcome
  try {
    return await conclude(known, { derivedFrom: record, held, intent, before, sentAt, outcome, replay }, context)
  } finally {
    trace.endAfter(known.unsaved?.safe)
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
