/**
 * What is known of an account's tokens, for people and programs that want to show it, and how that came about.
 */
import { StoreError } from '../errors.ts'
import type { AccountHistory, TokenStatus } from './token-status.ts'
import { whyOf } from './why.ts'
import type { Context } from '../kernel/context.ts'
import { momentOf, run } from '../kernel/driver.ts'
import { overdueSince } from '../kernel/elsewhere.ts'
import { expectsRefusal } from '../kernel/freshness.ts'
import {
  accessTokenOf,
  isRefreshed,
  isRefusedNow,
  isUsable,
  type Knowledge,
  type Moment,
  openIntent,
} from '../kernel/knowledge.ts'
import { inDoubt, isHeldUp, isIntentAlive } from '../kernel/pace.ts'

export async function statusOf(name: string, context: Context): Promise<TokenStatus> {
  const account = context.memory.of(name)
  try {
    await run(account, { kind: 'look' }, context)
  } catch (error) {
    if (account.knowledge.record === undefined) throw error
  }
  return statusAsKnown(account.knowledge, momentOf(context))
}

export async function historyOf(name: string, context: Context): Promise<AccountHistory> {
  const status = await statusOf(name, context)
  const { knowledge } = context.memory.of(name)
  const { record } = knowledge
  return { status, ...whyOf({ status, record, intent: openIntent(knowledge), now: momentOf(context).wall / 1000 }) }
}

/** A store that can't be read is the cause. @throws any other error */
export function unreadHistory(error: unknown): AccountHistory {
  if (!(error instanceof StoreError)) throw error
  const nothing = { status: { state: 'signed-out' }, record: undefined, now: 0 } as const
  return { status: undefined, ...whyOf({ ...nothing, store: error.reason }) }
}

function statusAsKnown(known: Knowledge, now: Moment): TokenStatus {
  const { record } = known
  if (record === undefined || record.state === 'signed-out') return { state: 'signed-out' }
  const hasToken = accessTokenOf(record) !== undefined
  const overdue = overdueSince(known, now)
  const facts = {
    ...(hasToken && { expires_at: record.obtained_at + record.lifetime }),
    auth_url: record.tokens.auth_url,
    obtained_at: record.obtained_at,
    ...(isRefreshed(record) && hasToken && { refreshed_at: record.obtained_at }),
    ...(expectsRefusal(record) && { refreshed_tokens_refused: record.refusals?.inARow ?? 1 }),
    ...(hasToken && isRefusedNow(known) && { refused: true }),
    ...(overdue !== undefined && { not_refreshed_since: overdue }),
  }
  if (record.state === 'reauthentication-required') return { state: record.state, reason: record.reason, ...facts }
  const intent = openIntent(known)
  if (intent !== undefined && (isHeldUp(known, now) || !isIntentAlive(known, intent, now))) {
    const next = now.settings.refreshesElsewhere ? {} : { next_attempt_at: inDoubt(known, now).nextAttemptAt }
    return { state: 'in-doubt', ...next, ...facts }
  }
  const state = isUsable(known, now) ? 'valid' : 'expired'
  if (!hasToken) return { state, ...facts }
  return { state, refresh_due_at: Math.ceil(record.obtained_at + known.ages.ageing / 1000), ...facts }
}
