/**
 * After a 403 of the owner API: whether it is about the call, or about the token itself.
 *
 * The owner API's edge was seen to refuse tokens that the service had just issued and still accepts, because of the transport
 * that they were issued over (`docs/internals/decisions.md`). Then neither a refresh nor a sign-in over the same transport helps.
 */

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

/** Judges the answers of one proxy, `fetch` or axios instance. */
export interface TokenHistories {
  /** Whether an answer with this status refuses the token: a 403 to a fresh token that was never accepted before. */
  refusesToken(account: string, token: string, status: number): boolean
}

/** Seconds after its issue in which a token is fresh. */
const fresh = 15 * 60
/** Beyond that, the account whose token is the oldest here is forgotten. */
const mostAccounts = 10_000

export function tokenHistories(): TokenHistories {
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
    refusesToken(account, token, status) {
      const history = historyOf(account, token)
      if (status !== 401 && status !== 403 && status < 500) history.isAccepted = true
      return status === 403 && history.isFresh && !history.isAccepted
    },
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
