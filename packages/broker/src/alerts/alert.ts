/**
 * What is told when an account has to sign in again, or soon will, and when it works again. The same words go to every channel.
 */
import { type ReauthenticationReason, visible } from '@owner-sso/core'

/** In place of an account, where all of them rest: no account can be called so. */
export const theClient = 'owner-sso:client'

/** What happened to an account, or to all. */
export interface Alert {
  /** Names this alert: a receiver that gets it twice can tell. */
  readonly id: string
  /**
   * `sign-in.due`: it works for a while yet, and can't be refreshed to any purpose. `refresh.overdue`: refreshes are left to others,
   * and nobody makes one. `client.rejected`: the service does not know the registered application, or not by its secret.
   */
  readonly type: `sign-in.${'needed' | 'due' | 'restored'}` | 'refresh.overdue' | `client.${'rejected' | 'restored'}`
  /** `owner-sso:client` where all of them rest. */
  readonly account: string
  /** When it was noticed: seconds since the epoch. */
  readonly at: number
  /** Why the owner has to sign in again. */
  readonly reason?: ReauthenticationReason | 'signed-out' | undefined
  /** Why a sign-in is due or a refresh overdue, and until when the account works. */
  readonly advice?: string | undefined
  /** Where they can: the status page. */
  readonly signInUrl?: string | undefined
}

/** A way to tell people. */
export interface AlertChannel {
  /** Unique among those of a broker: under this name it is remembered who was told. */
  readonly name: string
  /** Resolves once it is told; rejects where it could not be, within a minute. It is then called again later, a few times. */
  tell(alert: Alert): Promise<void>
}

/** The body of a webhook and of an MQTT message: one JSON object. */
export function alertBody(alert: Alert): string {
  const { id, type, account, at, reason, signInUrl } = alert
  const data = {
    account: account === theClient ? undefined : account,
    message: messageOf(alert),
    reason,
    sign_in_url: signInUrl,
  }
  return JSON.stringify({ id, type, timestamp: new Date(at * 1000).toISOString(), data })
}

function messageOf({ type, account, advice = 'Sign in again soon.' }: Alert): string {
  if (type === 'client.restored') return 'The service knows the application again.'
  if (type === 'client.rejected')
    return 'The service does not know the application, or not by its secret. Until that is corrected, no token is refreshed.'
  const name = visible(account)
  if (type === 'sign-in.due' || type === 'refresh.overdue') return `${name}: ${advice}`
  return type === 'sign-in.needed'
    ? `${name} has to sign in again. Until then, no program gets a token for it.`
    : `${name} works again.`
}
