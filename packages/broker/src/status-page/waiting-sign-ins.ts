/**
 * Sign-ins that wait for a person: for a passcode, or for the address that they end on. Kept in this process's memory alone,
 * since one holds the password; bounded in number and time.
 */
import type { AuthorizationRequest, Factor, PendingLogin } from '@owner-sso/core'
import { LRUCache } from 'lru-cache'

export type WaitingSignIn =
  | {
      readonly step: 'passcode'
      /** Whose sign-in it is to be; `undefined`: whoever signs in. */
      readonly account: string | undefined
      readonly identity: string
      readonly factors: readonly Factor[]
      readonly pending: PendingLogin
    }
  | {
      readonly step: 'browser'
      readonly account: string | undefined
      readonly url: string
      readonly authorization: AuthorizationRequest
    }

export interface WaitingSignIns {
  get<Step extends WaitingSignIn['step']>(
    visitor: string,
    step: Step,
  ): Extract<WaitingSignIn, { step: Step }> | undefined
  set(visitor: string, signIn: WaitingSignIn): void
  delete(visitor: string): void
}

/** One for each visitor, for ten minutes. */
export function waitingSignIns(): WaitingSignIns {
  const waiting = new LRUCache<string, WaitingSignIn>({ max: 100, ttl: 600_000 })
  return {
    get(visitor, step) {
      const signIn = waiting.get(visitor)
      return isAt(signIn, step) ? signIn : undefined
    },
    set: (visitor, signIn) => void waiting.set(visitor, signIn),
    delete: (visitor) => void waiting.delete(visitor),
  }
}

function isAt<Step extends WaitingSignIn['step']>(
  signIn: WaitingSignIn | undefined,
  step: Step,
): signIn is Extract<WaitingSignIn, { step: Step }> {
  return signIn?.step === step
}
