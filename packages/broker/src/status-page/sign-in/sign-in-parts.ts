/**
 * What every step of a sign-in works with, and how one ends: whoever signs in must be the account that was to.
 */
import { type Notice, waitingTime } from '#sign-in-pages'
import {
  accountName,
  type AuthorizationRequest,
  type Factor,
  identifyOwner,
  isSubjectAccount,
  type PendingLogin,
  type Sso,
  SsoError,
  type TokenManager,
  type TokenSet,
} from '@owner-sso/core'
import { LRUCache } from 'lru-cache'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { secondsToWait } from '../../http/limits.ts'

export interface SignInParts {
  readonly sso: Sso
  readonly tokens: Pick<TokenManager, 'save'>
  readonly path: string
  readonly waiting: WaitingSignIns
  readonly tries: RateLimiterMemory
  readonly onSignedIn: (account: string) => void
}

interface OfAccount {
  /** Whose sign-in it is to be; `undefined`: whoever signs in. */
  readonly account?: string | undefined
}

/**
 * Sign-ins that wait for a person, one of a kind for each visitor, for ten minutes: kept in this process's memory alone, since one
 * holds the password.
 */
export interface WaitingSignIns {
  readonly passcode: LRUCache<
    string,
    OfAccount & { readonly identity: string; readonly factors: readonly Factor[]; readonly pending: PendingLogin }
  >
  /** For the address that they end on. */
  readonly page: LRUCache<string, OfAccount & { readonly url: string; readonly authorization: AuthorizationRequest }>
  /** The account that was signed in: the visitor is yet to be told. */
  readonly done: LRUCache<string, string>
}

export function waitingSignIns(): WaitingSignIns {
  const limits = { max: 100, ttl: 600_000 }
  return { passcode: new LRUCache(limits), page: new LRUCache(limits), done: new LRUCache(limits) }
}

/** What waits, for the one who asks first: nobody gets it any more until it is set again. */
export function taken<Value extends object>(from: LRUCache<string, Value>, visitor: string): Value | undefined {
  const value = from.get(visitor)
  from.delete(visitor)
  return value
}

/** Something that the person can put right; not an error of the service. */
export class RejectedSignInError extends Error {}

/** Passwords and passcodes of one account in 15 minutes, counted before anything is sent: more get the account locked. */
export const signInTries = (): RateLimiterMemory => new RateLimiterMemory({ points: 5, duration: 900 })

/** @throws RejectedSignInError */
export async function countTry({ tries }: SignInParts, identity: string): Promise<void> {
  const wait = await secondsToWait(tries, accountName(identity))
  if (wait === 0) return
  const text = `To protect the account, this page waits after a few tries. Try again in ${waitingTime(wait)}.`
  throw new RejectedSignInError(text)
}

/** @param wanted - whose sign-in it was to be. @throws RejectedSignInError where somebody else has signed in; StoreError */
export async function finish(
  { tokens, waiting, tries, onSignedIn }: SignInParts,
  visitor: string,
  owner: string,
  wanted: string | undefined,
  set: TokenSet,
): Promise<void> {
  if (wanted !== undefined && owner !== wanted) {
    throw new RejectedSignInError(`The account that signed in is ${owner}, not ${wanted}. Nothing was stored.`)
  }
  await tokens.save(owner, set)
  waiting.done.set(visitor, owner)
  await tries.delete(owner)
  onSignedIn(owner)
}

/** What was typed says whose tokens these are, but for accounts that have no e-mail. */
export async function finishTyped(
  parts: SignInParts,
  visitor: string,
  identity: string,
  wanted: string | undefined,
  set: TokenSet,
): Promise<void> {
  if (wanted === undefined || !isSubjectAccount(wanted)) {
    return finish(parts, visitor, accountName(identity), wanted, set)
  }
  const named = await identifyOwner(parts.sso, set)
  return finish(parts, visitor, named.owner.account, wanted, named.tokens)
}

/** What a person would type for this account; nothing for one without an e-mail. */
export function emailOf(account: string | undefined): string | undefined {
  return account === undefined || isSubjectAccount(account) ? undefined : account
}

/** What a page says of an error. @throws what is neither the service's nor the person's mistake */
export function problemOf(error: unknown): Notice {
  if (!(error instanceof RejectedSignInError || error instanceof SsoError)) throw error
  return { title: 'Not signed in yet', text: error.message }
}
