/**
 * Spent refresh tokens: a refresh token works once, and sent again it can end the session that came of it. So a record
 * remembers those that somebody may still have, by their lineage, and `save` refuses them.
 */
import { OtherOwnerError, ReauthenticationRequiredError } from '../errors.ts'
import type { AccountRecord, SignedIn } from './token-record.ts'
import { lineageOf } from './lineage.ts'

/** How many a record remembers. */
const remembered = 16

/** What the record of the next tokens remembers: all that were saved, and of those that refreshes brought the last alone. */
export function spentByRefresh({ lineage, refreshes, spent = [] }: SignedIn, next: string): readonly string[] {
  if (next === lineage) return spent
  return [lineage, ...spent.slice(refreshes > 1 ? 1 : 0)].slice(0, remembered)
}

/** What a sign-in or a sign-out over these records remembers: a token that was sent, or may have been, as well. */
export function spentBefore(...records: readonly (AccountRecord | undefined)[]): readonly string[] {
  const all = records.flatMap((record) =>
    record === undefined ? [] : [...(isInUse(record) ? [record.lineage] : []), ...(record.spent ?? [])],
  )
  return [...new Set(all)].slice(0, remembered)
}

function isInUse(record: AccountRecord): record is Exclude<AccountRecord, { state: 'signed-out' }> {
  if (record.state === 'signed-in') return record.intent !== undefined
  // Another owner's token is not spent: it was kept as it came.
  return record.state === 'reauthentication-required' && record.reason !== 'other_owner'
}

/** What `save` answers where `stored` knows that this refresh token was spent, or that it was refused. */
export function reasonAgainst(
  stored: AccountRecord | undefined,
  account: string,
  refreshToken: string,
): ReauthenticationRequiredError | undefined {
  if (stored === undefined) return undefined
  const lineage = lineageOf(account, refreshToken)
  const options = { step: 'token-manager', requestSent: false } as const
  if (stored.spent?.includes(lineage)) return new ReauthenticationRequiredError('refresh_token_spent', options)
  if (stored.state !== 'reauthentication-required' || stored.lineage !== lineage) return undefined
  if (stored.reason === 'other_owner') return new OtherOwnerError(options)
  return new ReauthenticationRequiredError(stored.reason, options, stored.description)
}
