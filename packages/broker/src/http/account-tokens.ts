/**
 * The tokens of an account as the broker hands them out: never those of a session that was ended elsewhere, as long as the
 * store can tell.
 */
import {
  answeredInTime,
  type CurrentTokens,
  type ReauthenticationReason,
  ReauthenticationRequiredError,
  SignedOutError,
  type TokenManager,
} from '@owner-sso/core'
import { fresh } from '../clients/fresh.ts'

/** Is told how an account stands, each time that somebody asks for its token. To tell people once is up to it. */
export interface BrokerAlerts {
  /** Only the owner can help. The current access token may go on working for a while. */
  readonly signInNeeded: (account: string, reason: 'signed-out' | ReauthenticationReason) => void
  readonly works: (account: string) => void
}

/** Milliseconds that a store may take to tell; after that what is in memory counts. */
const patience = 500

/**
 * A function that resolves to the current tokens of an account.
 *
 * A token manager serves a token from memory for up to a minute before it looks at the store again, and so would serve one
 * that was signed out elsewhere. So the store is looked at for each call; where it is down, the current token is served
 * while it lives.
 */
export function accountTokens(
  tokens: Pick<TokenManager, 'getTokens' | 'status'>,
  alerts: BrokerAlerts | undefined,
): (account: string) => Promise<CurrentTokens> {
  const statusOf = fresh((account) => tokens.status(account))
  return async (account) => {
    // Nothing where the store fails, or takes too long.
    const status = await answeredInTime(patience, () => statusOf(account), Error).catch(() => undefined)
    try {
      const current = await tokens.getTokens(account)
      if (status?.state === 'reauthentication-required')
        alerts?.signInNeeded(account, status.reason ?? 'refresh_token_rejected')
      else alerts?.works(account)
      return current
    } catch (error) {
      if (error instanceof SignedOutError) alerts?.signInNeeded(account, 'signed-out')
      if (error instanceof ReauthenticationRequiredError) alerts?.signInNeeded(account, error.reason)
      throw error
    }
  }
}

/** Seconds that the access token has left: `expires_in` as it truly is. */
export function secondsLeft({ expires_at }: CurrentTokens): number {
  return Math.max(0, Math.floor(expires_at - Date.now() / 1000))
}
