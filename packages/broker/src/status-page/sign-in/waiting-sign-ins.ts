/**
 * Sign-ins that wait for a person: for a passcode, or for the address that they end on. One for each visitor, for ten
 * minutes: kept in this process's memory alone, since one holds the password.
 */
import type { AuthorizationRequest, Factor, PendingLogin } from '@owner-sso/core'
import { LRUCache } from 'lru-cache'

export type WaitingSignIn =
  | {
      readonly step: 'passcode'
      /** Whose sign-in it is to be; `undefined`: whoever signs in. */
      readonly account?: string | undefined
      readonly identity: string
      readonly factors: readonly Factor[]
      readonly pending: PendingLogin
    }
  | {
      readonly step: 'browser'
      readonly account?: string | undefined
      readonly url: string
      readonly authorization: AuthorizationRequest
    }
  /** The visitor is yet to be told that it worked. */
  | { readonly step: 'done'; readonly account: string }

/** A visitor's sign-in, where it is at that step. */
export type SignInAt<Step extends WaitingSignIn['step']> = Extract<WaitingSignIn, { step: Step }> | undefined

export interface WaitingSignIns {
  get<Step extends WaitingSignIn['step']>(visitor: string, step: Step): SignInAt<Step>
  /** The same, for the one who asks first: nobody gets it any more until it is set again. */
  take<Step extends WaitingSignIn['step']>(visitor: string, step: Step): SignInAt<Step>
  /** In place of the one before. */
  set(visitor: string, signIn: WaitingSignIn): void
  delete(visitor: string): void
}

/** Milliseconds. */
const longestWait = 600_000

export function waitingSignIns(): WaitingSignIns {
  const waiting = new LRUCache<string, WaitingSignIn>({ max: 100, ttl: longestWait })
  return {
    get: (visitor, step) => signInAt(waiting.get(visitor), step),
    take(visitor, step) {
      const signIn = signInAt(waiting.get(visitor), step)
      if (signIn !== undefined) waiting.delete(visitor)
      return signIn
    },
    set(visitor, signIn) {
      waiting.set(visitor, signIn)
    },
    delete(visitor) {
      waiting.delete(visitor)
    },
  }
}

function signInAt<Step extends WaitingSignIn['step']>(signIn: WaitingSignIn | undefined, step: Step): SignInAt<Step> {
  return isAt(signIn, step) ? signIn : undefined
}

function isAt<Step extends WaitingSignIn['step']>(
  signIn: WaitingSignIn | undefined,
  step: Step,
): signIn is Extract<WaitingSignIn, { step: Step }> {
  return signIn?.step === step
}
