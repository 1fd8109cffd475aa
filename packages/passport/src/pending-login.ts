/**
 * A sign-in that waits for the person's next step, for a limited time and number of tries.
 */
import { randomBytes } from 'node:crypto'
import type { AuthorizationRequest, Factor, PendingLogin } from '@owner-sso/core'

/** Wrong answers that end a sign-in. */
const mostTries = 5

interface KeptLoginFields {
  /** 128 random bits. */
  readonly id: string
  /** Answers given so far. */
  readonly tries: number
  /** Seconds since the epoch. */
  readonly expires_at: number
}

/** Waits for a passcode. `pending` holds the credential. */
export interface PendingPasscode extends KeptLoginFields {
  readonly step: 'passcode'
  readonly identity: string
  readonly factors: readonly Factor[]
  readonly pending: PendingLogin
}

/** Waits for the address that the person's browser ends on. `request` holds the verifier. */
export interface PendingCallback extends KeptLoginFields {
  readonly step: 'callback'
  readonly url: string
  readonly request: AuthorizationRequest
}

/** JSON-safe, and secret: it lives in the process's memory or under a seal, nowhere else. */
export type KeptLogin = PendingPasscode | PendingCallback

/** What the next page may show of a pending login; nothing of it is secret. */
export type PendingLoginView =
  | (Pick<PendingPasscode, 'step' | 'identity' | 'factors' | 'expires_at'> & { readonly triesLeft: number })
  | (Pick<PendingCallback, 'step' | 'url' | 'expires_at'> & { readonly triesLeft: number })

/** The fields of every new pending login. */
export function newKeptLogin(expiresAt: number): KeptLoginFields {
  return { id: randomBytes(16).toString('base64url'), tries: 0, expires_at: expiresAt }
}

/** The same login after one more answer, or `undefined` if that was the last that it may have. */
export function afterOneMoreTry<Login extends KeptLogin>(login: Login): Login | undefined {
  const tries = login.tries + 1
  return tries < mostTries ? { ...login, tries } : undefined
}

/** Answers that a pending login may still have. */
export function triesLeft(login: KeptLogin): number {
  return mostTries - login.tries
}

export function isOver(login: KeptLogin): boolean {
  return login.expires_at * 1000 <= Date.now()
}

/** What the next page may show. */
export function viewOf(login: KeptLogin): PendingLoginView {
  const shared = { triesLeft: triesLeft(login), expires_at: login.expires_at }
  return login.step === 'passcode'
    ? { step: login.step, identity: login.identity, factors: login.factors, ...shared }
    : { step: login.step, url: login.url, ...shared }
}
