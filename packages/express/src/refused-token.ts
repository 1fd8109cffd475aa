/**
 * After a 403 of the owner API: whether it is about the call, or about the token itself.
 *
 * The service's edge was seen to refuse tokens that the service had just issued, and goes on to call good: by what they were
 * minted over (`docs/internals/decisions.md`). Neither a refresh nor a sign-in over the same transport helps there.
 */

/** What the owner API made of the newest token of an account. */
interface TokenHistory {
  readonly token: string
  /** It was issued lately: by its own word, or because it took another's place here. */
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
  /** Whether an answer with this status refuses the token: a 403 to a fresh one that no call was ever taken with. */
  refused(account: string, token: string, status: number): boolean
}

/** Seconds after its issue in which a token is fresh. */
const fresh = 15 * 60
/** Of more accounts the longest unheard-of is forgotten. */
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
    refused(account, token, status) {
      const history = historyOf(account, token)
      if (status !== 401 && status !== 403 && status < 500) history.isAccepted = true
      return status === 403 && history.isFresh && !history.isAccepted
    },
  }
}

/** By the claim `iat` of a JWT (RFC 7519 section 4.1.6), which is not verified: nothing is allowed for it. */
function isIssuedLately(token: string): boolean {
  try {
    const claims: { iat?: unknown } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    return typeof claims.iat === 'number' && Math.abs(Date.now() / 1000 - claims.iat) < fresh
  } catch {
    return false
  }
}
