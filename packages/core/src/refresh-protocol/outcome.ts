/**
 * What one refresh request came to, and what that says about the refresh token in it: spent, unspent or unknown.
 */
import {
  FirewallChallengeError,
  ReauthenticationRequiredError,
  SsoError,
  TokenRejectedError,
  UnexpectedResponseError,
} from '../errors.ts'
import type { TokenSet } from '../issuer/token-set.ts'

export type Outcome =
  | { readonly kind: 'tokens'; readonly tokens: TokenSet }
  /** The service refused the refresh token: it is dead. */
  | { readonly kind: 'refused'; readonly error: ReauthenticationRequiredError }
  /** A firewall's page came in place of an answer: the service itself has not seen the request. */
  | { readonly kind: 'blocked'; readonly error: FirewallChallengeError }
  /** The refresh token is as good as before: nothing was sent, or the request was refused for another reason. */
  | { readonly kind: 'unspent'; readonly error: SsoError }
  /** The request may have been served, and the new refresh token lost with the answer. */
  | { readonly kind: 'in-doubt'; readonly error: SsoError }

/** The send guard closed: this process was held up too long between its swap and the request. Nothing was sent. */
export class SendGuardError extends SsoError {
  constructor() {
    super('ERR_SSO_TIMEOUT', 'The refresh was held up and not sent; it is tried again.', { requestSent: false })
  }
}

/** The outcome of a refresh call, whatever it threw. */
export async function outcomeOf(refresh: () => Promise<TokenSet>): Promise<Outcome> {
  try {
    return { kind: 'tokens', tokens: await refresh() }
  } catch (error) {
    return failure(error)
  }
}

function failure(error: unknown): Outcome {
  if (error instanceof ReauthenticationRequiredError) return { kind: 'refused', error }
  if (error instanceof FirewallChallengeError) return { kind: 'blocked', error }
  if (error instanceof TokenRejectedError) return { kind: 'unspent', error }
  if (!(error instanceof SsoError)) {
    return { kind: 'in-doubt', error: new UnexpectedResponseError('the refresh failed', { cause: error }) }
  }
  return { kind: error.requestSent ? 'in-doubt' : 'unspent', error }
}
