/**
 * What is known of an account's tokens, for people and programs that want to show it.
 */
import type { TokenStatus } from '../tokens/token-manager.ts'
import { accessTokenOf, isUsable } from './account-memory.ts'
import { syncFromStoreAndSpool } from './carry-over.ts'
import type { Context } from './context.ts'
import { inDoubt, isHeldUp, isIntentAlive, openIntent } from './doubt.ts'
import { instantOf } from './runtime.ts'

/** @throws StoreError where the store can't be read and nothing is in memory either */
export async function statusOf(account: string, context: Context): Promise<TokenStatus> {
  const cache = context.memory.of(account)
  try {
    await syncFromStoreAndSpool(cache, context)
  } catch (error) {
    if (cache.record === undefined) throw error
  }
  const { record } = cache
  if (record === undefined || record.state === 'signed-out') return { state: 'signed-out' }
  const hasToken = accessTokenOf(record) !== undefined
  const facts = {
    ...(hasToken && { expires_at: record.obtained_at + record.lifetime }),
    auth_url: record.tokens.auth_url,
    obtained_at: record.obtained_at,
    ...(hasToken && record.refreshes > 0 && { refreshed_at: record.obtained_at }),
    ...(record.failure && { last_failure: { code: record.failure.code, at: record.failure.at } }),
  }
  if (record.state === 'reauthentication-required') return { state: record.state, reason: record.reason, ...facts }
  const intent = openIntent(cache)
  if (intent !== undefined && (isHeldUp(cache, context) || !isIntentAlive(cache, intent, context))) {
    const next_attempt_at = inDoubt(cache, context).nextAttemptAt
    return { state: 'in-doubt', next_attempt_at, in_doubt_since: intent.at, ...facts }
  }
  const state = isUsable(cache, instantOf(context.runtime)) ? 'valid' : 'expired'
  if (!hasToken) return { state, ...facts }
  return { state, refresh_due_at: Math.ceil(record.obtained_at + cache.ages.ageing / 1000), ...facts }
}
