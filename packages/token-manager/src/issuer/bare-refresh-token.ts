/**
 * A refresh token that somebody brought along, without an access token: how it stands in a record until its first refresh.
 */
import { tokenSet, type TokenSet } from './token-set.ts'

/** As a token set whose access token is empty, and has ended. */
export function bareTokenSet({ refresh_token, auth_url }: Pick<TokenSet, 'refresh_token' | 'auth_url'>): TokenSet {
  return tokenSet({ access_token: '', refresh_token, token_type: 'Bearer', expires_at: 0, auth_url })
}

/** Whether these tokens wait for their first refresh, which shows whose they are. */
export function isBare({ access_token }: TokenSet): boolean {
  return access_token === ''
}
