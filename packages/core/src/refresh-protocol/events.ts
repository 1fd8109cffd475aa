/**
 * The token manager's events: what an operator wants to know. None carries a token.
 */
import { EventEmitter } from 'node:events'
import type { ReauthenticationReason, SsoError, StoreError } from '../errors.ts'

/** Each event with its argument. Times are seconds since the epoch. */
export interface TokenManagerEvents {
  /** A new token set was received. `replay`: the answer to an earlier request had been lost. */
  refreshed: { readonly account: string; readonly expires_at: number; readonly replay: boolean }
  /** A refresh ended without one; what `error` says, callers get once the old access token has expired. */
  'refresh-failed': { readonly account: string; readonly error: SsoError }
  /** A refresh was sent and its answer is unknown; it is replayed once, at `nextAttemptAt`, if nothing is heard. */
  'in-doubt': { readonly account: string; readonly nextAttemptAt: number }
  /** New tokens are in this process's memory alone: the store could not be written. Repeated until it can. */
  unsaved: { readonly account: string; readonly error: StoreError }
  /** The result of a refresh was dropped: a newer sign-in, sign-out or refresh stands in the store. */
  superseded: { readonly account: string }
  /** The owner has to sign in again. */
  'reauthentication-required': { readonly account: string; readonly reason: ReauthenticationReason }
  /** The service's firewall blocks this client. No process that shares the store sends before `nextAttemptAt`. */
  blocked: { readonly account: string; readonly auth_url: string; readonly nextAttemptAt: number }
}

export type Emit = <Name extends keyof TokenManagerEvents>(name: Name, event: TokenManagerEvents[Name]) => void

export interface EventSource {
  readonly emit: Emit
  /** Returns the end of it. */
  readonly on: <Name extends keyof TokenManagerEvents>(
    name: Name,
    listener: (event: TokenManagerEvents[Name]) => void,
  ) => () => void
}

export function createEvents(): EventSource {
  const emitter = new EventEmitter()
  return {
    emit(name, event) {
      try {
        emitter.emit(name, event)
      } catch (error) {
        // A listener's mistake is its author's to see, but must not stop a refresh half-way.
        process.nextTick(() => {
          throw error
        })
      }
    },
    on(name, listener) {
      emitter.on(name, listener)
      return () => emitter.off(name, listener)
    },
  }
}
