/**
 * What every step of a sign-in works with, and how one ends: whoever signs in must be the account that was to.
 */
import { type Notice, waitingTime } from '#sign-in-pages'
import {
  accountName,
  identifyOwner,
  isSubjectAccount,
  type Sso,
  SsoError,
  type TokenManager,
  type TokenSet,
} from '@owner-sso/core'
import type { Visit } from '../visit.ts'
import type { PageContext } from '../pages/page.ts'
import type { Tries, TryLimit } from './tries.ts'
import type { WaitingSignIns } from './waiting-sign-ins.ts'

export interface SignInParts {
  readonly sso: Sso
  readonly tokens: Pick<TokenManager, 'save'>
  readonly path: string
  /** Where a sign-in waits for the person. */
  readonly waiting: WaitingSignIns
  /** Counts what is tried with each account. */
  readonly tries: Tries
  /** Called once the tokens are stored. */
  readonly onSignedIn: (account: string) => void
}

/** Something that the person can put right; not an error of the service. */
export class RejectedSignInError extends Error {}

/** Passwords and passcodes of one account in 15 minutes, counted before anything is sent: more get the account locked. */
export const signInTries: TryLimit = { tries: 5, during: 900 }

/** @throws RejectedSignInError */
export function countTry({ tries }: SignInParts, identity: string): void {
  const wait = tries.count(accountName(identity))
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
  waiting.set(visitor, { step: 'done', account: owner })
  tries.forget(owner)
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

/** Whose sign-in a link is for. */
export function accountIn({ url }: Visit): string | undefined {
  return url.searchParams.get('account') ?? undefined
}

/** Every page of a sign-in is for somebody who came in. */
export function pageContext({ path }: SignInParts, { visitor }: Visit): PageContext {
  return { path, formToken: visitor.formToken, isInside: true }
}

/** @throws what is neither the service's nor the person's mistake */
export function rejectionOf(error: unknown): string {
  if (error instanceof RejectedSignInError || error instanceof SsoError) return error.message
  throw error
}

export function problemOf(text: string): Notice {
  return { title: 'Not signed in yet', text }
}
