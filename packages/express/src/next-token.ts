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
  /** How often the request was sent again already. */
  readonly repeats: number
}

/**
 * How often a request is sent again at the most. The second time is for a process that is behind: the token of another one's refresh
 * is refused as well, and the one before it works.
 */
const mostRepeats = 2

/**
 * Reports a refused token and gets the next one: refreshed once, however many callers report it. A token that is merely suspect
 * costs no refresh, and a second refusal neither: another one is tried where it works now.
 *
 * @returns `undefined` where there is nothing to try: no other token, or a request that can't be sent again
 * @throws what `tokens.invalidate` and `tokens.getAccessToken` throw
 */
export async function nextToken(tokens: Tokens, refused: RefusedToken): Promise<string | undefined> {
  const { account, token, verdict, canRepeat, signal, repeats } = refused
  const isSuspect = verdict === 'suspect'
  // Also of the last one: the manager has to know of it, so that it rests before it refreshes again.
  const hasAnother = await tokens.invalidate(account, token, { refresh: !isSuspect })
  if (!canRepeat || repeats >= mostRepeats) return undefined
  if ((isSuspect || repeats > 0) && hasAnother !== true) return undefined
  const next = await tokens.getAccessToken(account, { signal })
  return next === token ? undefined : next
}
