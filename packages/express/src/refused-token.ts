/**
 * What an answer of the owner API says of the token that it was asked with.
 *
 * A 401 refuses the token. A 403 is about the call, unless its body says that it is about the token, or says nothing at all of a
 * token that nothing has accepted yet: tokens were seen to be refused because of how they were issued (`docs/internals/decisions.md`).
 */

import type { Tokens } from './account-source.ts'

/** How the owner API has answered to the newest token of an account. */
interface TokenHistory {
  readonly token: string
  /** It was issued lately: its claim says so, or it has followed another one here. */
  readonly isFresh: boolean
  /** An answer to it was neither 401 nor 403. */
  isAccepted: boolean
}

/** A good token that the owner API refuses. */
export class OwnerApiTokenRefusedError extends Error {
  readonly code = 'ERR_OWNER_API_TOKEN_REFUSED'
  /** Of the owner API's answer. */
  readonly status = 403
  constructor() {
    super(
      'The owner API refuses a token that the SSO service has just issued (403). Signing in again the same way does not help: ' +
        'set another transport (document, modern) for sign-in and refresh; owner-sso doctor --live names the next one to try.',
    )
    this.name = 'OwnerApiTokenRefusedError'
  }
}

/** `invalid`: the token is refused. `suspect`: it may be, since nothing has accepted it yet. `call`: it is not the token. */
export type Verdict = 'invalid' | 'suspect' | 'call'

/** The body of a 403, and its header `WWW-Authenticate`. */
export interface Refusal {
  readonly challenge: string | undefined
  /** Nothing where it is long, slow, or no text. */
  readonly body: string | undefined
}

/** Judges the answers of one proxy, `fetch` or axios instance. */
export interface TokenHistories {
  /** To be told of every answer. Tells the token manager of one that accepts the token. */
  note(account: string, token: string, status: number): void
  /** What a 403 is about. */
  judge(account: string, token: string, refusal: Refusal): Verdict
  /** Whether the token was issued lately: a 403 that may be about it is about it then, though there is no other token. */
  isFresh(account: string, token: string): boolean
  /**
   * Reports a refused token and gets the next one: refreshed once, however many callers report it. A token that is merely suspect
   * costs no refresh, and a second refusal neither: another one is tried where it works now.
   *
   * @returns `undefined` where there is nothing to try: no other token, or a request that can't be sent again
   * @throws what `tokens.invalidate` and `tokens.getAccessToken` throw
   */
  next(refused: RefusedToken): Promise<string | undefined>
}

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

/** Seconds after its issue in which a token is fresh. */
const fresh = 15 * 60
/** Beyond that, the account whose token is the oldest here is forgotten. */
const mostAccounts = 10_000
/** Bytes of a 403 that are read, and milliseconds in which they have to come: a refusal of a token is short. */
export const longestRefusal = 4096
export const slowestRefusal = 1000

/** What a 403 says that is about nothing but the token (RFC 6750 section 3.1). */
const ofToken = /^invalid[ _](?:bearer[ _])?token$/iu
/** What it says where it does not say what is refused: the bare word, or one that goes on ("forbidden, see https://…"). */
const ofNothing = /^(?:forbidden|unauthorized|access[ _]denied)(?:\s*[,:].*)?$/isu

export function tokenHistories(tokens: Tokens): TokenHistories {
  const histories = new Map<string, TokenHistory>()

  function historyOf(account: string, token: string): TokenHistory {
    const known = histories.get(account)
    if (known?.token === token) return known
    const history = { token, isFresh: known !== undefined || isIssuedLately(token), isAccepted: false }
    histories.delete(account)
    histories.set(account, history)
    for (const oldest of histories.keys()) {
      if (histories.size <= mostAccounts) break
      histories.delete(oldest)
    }
    return history
  }

  return {
    note(account, token, status) {
      const history = historyOf(account, token)
      if (status !== 401 && status !== 403 && status < 500) history.isAccepted = true
      // A caller that has a copy is told so with a 304, and may get nothing else for hours.
      if ((status >= 200 && status < 300) || status === 304) tokens.accepted?.(account, token)
    },
    judge(account, token, { challenge = '', body }) {
      if (/\berror="?invalid_token\b/iu.test(challenge)) return 'invalid'
      const said = errorIn(body)
      if (said === undefined) return 'call'
      if (ofToken.test(said)) return 'invalid'
      return ofNothing.test(said) && !historyOf(account, token).isAccepted ? 'suspect' : 'call'
    },
    isFresh: (account, token) => historyOf(account, token).isFresh,
    async next({ account, token, verdict, canRepeat, signal, repeats }) {
      const isSuspect = verdict === 'suspect'
      // Also of the last one: the manager has to know of it, so that it rests before it refreshes again.
      const hasAnother = await tokens.invalidate(account, token, { refresh: !isSuspect })
      if (!canRepeat || repeats >= mostRepeats) return undefined
      if ((isSuspect || repeats > 0) && hasAnother !== true) return undefined
      const next = await tokens.getAccessToken(account, { signal })
      return next === token ? undefined : next
    },
  }
}

/** The field `error` of a JSON body that has no answer beside it. */
export function errorIn(body: string | undefined): string | undefined {
  try {
    const { error, response = null }: { error?: unknown; response?: unknown } =
      JSON.parse(body?.replace(/^\uFEFF/u, '') ?? '') ?? {}
    return typeof error === 'string' && response === null ? error.trim() : undefined
  } catch {
    return undefined
  }
}

/** By the claim `iat` of a JWT (RFC 7519 section 4.1.6). It is not verified: it permits nothing. */
function isIssuedLately(token: string): boolean {
  try {
    const claims: { iat?: unknown } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    return typeof claims.iat === 'number' && Math.abs(Date.now() / 1000 - claims.iat) < fresh
  } catch {
    return false
  }
}
