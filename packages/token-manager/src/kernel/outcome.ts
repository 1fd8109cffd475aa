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
import { tokenSet, type TokenSet, isBare, isEpochSeconds } from '../issuer/token-set.ts'
import { isTokenSet } from '../store/record-check.ts'

export type Outcome =
  /** `isOfAnotherOwner`: they are not the account's, as the first refresh of a token that was brought along can show. */
  | { readonly kind: 'tokens'; readonly tokens: TokenSet; readonly isOfAnotherOwner: boolean }
  /** The service refused the grant (`invalid_grant`): the refresh token is dead. */
  | { readonly kind: 'invalid-grant'; readonly error: ReauthenticationRequiredError }
  /** A firewall's page came in place of an answer: the service itself has not seen the request. */
  | { readonly kind: 'challenged'; readonly error: FirewallChallengeError }
  /** The refresh token is as good as before: nothing was sent, or the request was refused for another reason. */
  | { readonly kind: 'unspent'; readonly error: SsoError }
  /** The request may have been served, and the new refresh token lost with the response. */
  | { readonly kind: 'in-doubt'; readonly error: SsoError }

/** The send guard closed: this process was held up too long between its swap and the request. Nothing was sent. */
export class SendGuardError extends SsoError {
  static override readonly name: string = 'SendGuardError'
  constructor() {
    super('ERR_SSO_TIMEOUT', 'The refresh was held up and not sent; it is tried again.', { requestSent: false })
  }
}

/** @param isOfAnotherOwner - asked of the answer as it came */
export async function outcomeOf(
  refresh: () => Promise<TokenSet>,
  previous: TokenSet,
  isOfAnotherOwner: (tokens: TokenSet) => Promise<boolean>,
): Promise<Outcome> {
  let tokens: TokenSet
  try {
    tokens = completed(await refresh(), previous)
  } catch (error) {
    return outcomeOfFailure(error)
  }
  // Nobody has proved whose a refresh token is that was brought along. An issuer that can't tell is believed.
  const isAlien = isBare(previous) && (await isOfAnotherOwner(tokens).catch(() => false))
  return { kind: 'tokens', tokens, isOfAnotherOwner: isAlien }
}

/**
 * A token set that lacks something, or has it in another form, is completed from the one before: its tokens may be the only
 * valid ones, so they have to be kept. Without a time its life is the documented one.
 */
function completed(fresh: TokenSet, previous: TokenSet): TokenSet {
  if (isTokenSet(fresh) && isEpochSeconds(fresh.expires_at)) return fresh
  const { access_token, refresh_token, expires_at } = fresh
  const tokens = tokenSet({
    access_token,
    refresh_token: refresh_token || previous.refresh_token,
    token_type: 'Bearer',
    expires_at: isEpochSeconds(expires_at) ? expires_at : 0,
    auth_url: previous.auth_url,
  })
  if (!isTokenSet(tokens)) throw new UnexpectedResponseError('it holds no usable tokens', { step: 'refresh' })
  return tokens
}

export function outcomeOfFailure(error: unknown): Outcome {
  if (error instanceof ReauthenticationRequiredError) return { kind: 'invalid-grant', error }
  if (error instanceof FirewallChallengeError) return { kind: 'challenged', error }
  if (error instanceof TokenRejectedError) return { kind: 'unspent', error }
  if (!(error instanceof SsoError)) {
    return { kind: 'in-doubt', error: new UnexpectedResponseError('the refresh failed', { cause: error }) }
  }
  return { kind: error.requestSent ? 'in-doubt' : 'unspent', error }
}
