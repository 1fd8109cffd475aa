/** What legacy clients do before their first call: the access token is traded for another one at the owner API itself. */
import type { AccessToken } from './access-tokens.ts'
import { jsonReply, type Reply } from './reply.ts'
import type { Service } from './service.ts'

/** The answer to `POST /oauth/token` of the owner API: a token of the same account and sign-in, as long-lived as the first. */
export async function tradeReply({ accessTokens, instances, settings }: Service, held: AccessToken): Promise<Reply> {
  const { account, family } = held
  const { accessToken } = await accessTokens.issue(account, family, instances[account.region])
  return jsonReply(200, { access_token: accessToken, token_type: 'bearer', expires_in: settings.accessTokenLifetime })
}
