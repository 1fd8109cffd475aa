/**
 * A refresh token that somebody brought along, without an access token: how it stands in a record until its first refresh,
 * and when it may take the place of what is there.
 */
import { SessionExistsError } from '../errors.ts'
import { tokenSet, type TokenSet } from '../issuer/token-set.ts'
import type { AccountRecord } from '../tokens/token-record.ts'
import type { Context } from './context.ts'
import { lineageOf } from './lineage.ts'

/** As a token set whose access token is empty, and has ended. */
export function bareTokenSet({ refresh_token, auth_url }: Pick<TokenSet, 'refresh_token' | 'auth_url'>): TokenSet {
  return tokenSet({ access_token: '', refresh_token, token_type: 'Bearer', expires_at: 0, auth_url })
}

/** Whether these tokens wait for their first refresh, which shows whose they are. */
export function isBare({ access_token }: TokenSet): boolean {
  return access_token === ''
}

/**
 * Whether tokens that were brought along may take the place of `stored`: only where no session is there that they would end.
 *
 * @returns false where it holds the very same refresh token: it is kept already
 * @throws SessionExistsError for another session
 */
export function mayTakeThePlaceOf(
  stored: AccountRecord | undefined,
  account: string,
  { refresh_token }: TokenSet,
): boolean {
  if (stored?.state !== 'signed-in') return true
  if (stored.lineage === lineageOf(account, refresh_token)) return false
  throw new SessionExistsError({ step: 'token-manager', requestSent: false })
}

/** Whether the first refresh showed that the tokens are not this account's. An issuer that can't tell is believed. */
export async function isOfAnotherOwner(account: string, tokens: TokenSet, { sso }: Context): Promise<boolean> {
  try {
    return (await sso.isOfAnotherOwner?.(tokens, account)) === true
  } catch {
    return false
  }
}
