/**
 * What is known of an account's tokens, for people and programs that want to show it.
 */
import type { TokenStatus } from '../tokens/token-manager.ts'
import { isUsable } from './account-memory.ts'
import { lookEverywhere } from './carry-over.ts'
import type { Context } from './context.ts'
import { inDoubt, isIntentAlive, openIntent } from './doubt.ts'
import { instantOf } from './runtime.ts'

/** @throws StoreError where the store can't be read and nothing is in memory either */
export async function statusOf(account: string, context: Context): Promise<TokenStatus> {
  const known = context.memory.of(account)
  try {
    await lookEverywhere(known, context)
  } catch (error) {
    if (known.record === undefined) throw error
  }
  const { record } = known
  if (record === undefined || record.state === 'signed-out') return { state: 'signed-out' }
  const facts = {
    expires_at: record.obtained_at + record.lifetime,
    auth_url: record.tokens.auth_url,
    obtained_at: record.obtained_at,
  }
  if (record.state === 'reauthentication-required') return { state: record.state, reason: record.reason, ...facts }
  const intent = openIntent(known)
  if (intent !== undefined && !isIntentAlive(known, intent, context)) {
    return { state: 'in-doubt', next_attempt_at: inDoubt(known, context).nextAttemptAt, ...facts }
  }
  return { state: isUsable(known, instantOf(context.runtime)) ? 'valid' : 'expired', ...facts }
}
