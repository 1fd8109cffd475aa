/**
 * After an answer of the owner API that refuses a token: the token to try next.
 */
import type { Tokens } from './account-source.ts'
import type { Verdict } from './refused-token.ts'

/** A token that was refused. */
export interface RefusedToken {
  readonly account: string
  readonly token: string
  readonly verdict: Exclude<Verdict, 'call'>
  /** Whether the request can be sent again; if not, the next call gets the next token. */
  readonly canRepeat: boolean
  /** Ends the wait for the next token. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Reports a refused token and gets the next one: refreshed once, however many callers report it. A token that is merely suspect
 * costs no refresh: the one before it is tried, where it works.
 *
 * @returns `undefined` where there is nothing to try: no other token, or a request that can't be sent again
 * @throws what `tokens.invalidate` and `tokens.getAccessToken` throw
 */
export async function nextToken(tokens: Tokens, refused: RefusedToken): Promise<string | undefined> {
  const { account, token, verdict, canRepeat, signal } = refused
  const isSuspect = verdict === 'suspect'
  const hasAnother = await tokens.invalidate(account, token, { refresh: !isSuspect })
  if (!canRepeat || (isSuspect && hasAnother !== true)) return undefined
  const next = await tokens.getAccessToken(account, { signal })
  return next === token ? undefined : next
}
