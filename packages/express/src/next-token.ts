/**
 * After a 401 of the owner API: the token to try next.
 */
import type { Tokens } from './account-source.ts'

/**
 * Reports an invalid token and gets the next one: refreshed once, however many callers report it.
 *
 * @param canRepeat - whether the request can be sent again; if not, the next call gets the next token
 * @param signal - ends the wait for it
 * @returns `undefined` where there is nothing to try: no other token, or a request that can't be sent again
 * @throws what `tokens.invalidate` and `tokens.getAccessToken` throw
 */
export async function nextToken(
  tokens: Tokens,
  account: string,
  invalid: string,
  canRepeat: boolean,
  signal?: AbortSignal,
): Promise<string | undefined> {
  await tokens.invalidate(account, invalid)
  if (!canRepeat) return undefined
  const token = await tokens.getAccessToken(account, { signal })
  return token === invalid ? undefined : token
}
