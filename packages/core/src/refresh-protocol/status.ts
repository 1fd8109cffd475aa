/**
 * What is known of an account's tokens, for people and programs that want to show it.
 */
import type { TokenStatus } from '../tokens/token-manager.ts'
import { accessTokenOf, isUsable } from './account-memory.ts'
import { syncFromStoreAndSpool } from './carry-over.ts'
import type { Context } from './context.ts'
import { inDoubt, isIntentAlive, openIntent } from './doubt.ts'
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
  const facts = {
    ...(accessTokenOf(record) !== undefined && { expires_at: record.obtained_at + record.lifetime }),
    auth_url: record.tokens.auth_url,
    obtained_at: record.obtained_at,
  }
  if (record.state === 'reauthentication-required') return { state: record.state, reason: record.reason, ...facts }
  const intent = openIntent(cache)
  if (intent !== undefined && !isIntentAlive(cache, intent, context)) {
    return { state: 'in-doubt', next_attempt_at: inDoubt(cache, context).nextAttemptAt, ...facts }
  }
  return { state: isUsable(cache, instantOf(context.runtime)) ? 'valid' : 'expired', ...facts }
}
