/**
 * The end of every accepted sign-in: the application's verify function says who the owner is there, or that they are nobody; then
 * the tokens are saved.
 */
import { answeredInTime, type TokenManager, type TokenOwner, type TokenSet } from '@owner-sso/core'
import type { Request } from 'express'
import type { Profile } from 'passport'
import type { Outcome } from './outcomes.ts'

/**
 * An owner whom the service has vouched for: the user that Passport gets where the application's verify function makes
 * none of its own. `account` is what the token manager files the tokens under; `email` is absent where a browser sign-in proved a
 * subject without one.
 */
export type OwnerSsoUser = TokenOwner

/** A sign-in that the service has accepted. */
export interface SignIn {
  /** What `strategy.tokens` files the tokens under. */
  readonly account: string
  /** The tokens. The token manager saves them once verify has accepted: there is no need to keep them. */
  readonly tokens: TokenSet
  readonly profile: Profile
}

/** Passport's callback: an error, or the user (`false`: not welcome here) with an optional message. */
export type VerifyDone = (error: unknown, user?: Express.User | false | null, info?: object | string) => void

/** Calls `done`, or returns a promise of the user (`false`: not welcome here). */
export type Verify = (signIn: SignIn, done: VerifyDone) => void | Promise<Express.User | false | null>

/** The same with the request in front: option `passReqToCallback`. */
export type VerifyWithRequest = (
  request: Request,
  signIn: SignIn,
  done: VerifyDone,
) => void | Promise<Express.User | false | null>

/** What verify answered. */
export interface Verdict {
  readonly user: Express.User | false
  readonly info?: object | string | undefined
}

/** Milliseconds for verify: the person is waiting, and so is the session's next request. */
const timeLimit = 30_000

/**
 * Asks the application's verify function; its first answer within 30 seconds counts. Without one every owner is welcome as
 * themselves.
 *
 * @throws Error with the status 504 where it gives no answer in that time, and what it fails with
 */
export function verdictOn(
  owner: OwnerSsoUser,
  tokens: TokenSet,
  verify: ((signIn: SignIn, done: VerifyDone) => unknown) | undefined,
): Promise<Verdict> {
  if (verify === undefined) return Promise.resolve({ user: owner })
  return answeredInTime(timeLimit, () => answer(owner, tokens, verify), unsettled)
}

function unsettled(): Error {
  const message =
    'verify neither called back nor settled its promise within 30 s. The sign-in ended, and no token was saved.'
  return Object.assign(new Error(message), { status: 504 })
}

function answer(
  owner: OwnerSsoUser,
  tokens: TokenSet,
  verify: (signIn: SignIn, done: VerifyDone) => unknown,
): Promise<Verdict> {
  return new Promise((resolve, reject) => {
    const done: VerifyDone = (error, user, info) => {
      if (error) reject(error)
      else resolve({ user: user || false, info })
    }
    const returned = verify({ account: owner.account, tokens, profile: profileOf(owner) }, done)
    // What it returns tells a promise from a callback.
    if (isThenable(returned)) {
      Promise.resolve(returned)
        .then((user) => {
          if (user === undefined) throw new TypeError('verify’s promise must resolve to the user, or to false')
          return resolve({ user: user || false })
        })
        .catch(reject)
    }
  })
}

function isThenable(value: unknown): value is PromiseLike<Express.User | false | null | undefined> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

interface Accepting {
  readonly tokens: Pick<TokenManager, 'save'>
  readonly verdict: (request: Request, owner: OwnerSsoUser, tokens: TokenSet) => Promise<Verdict>
}

/**
 * Asks verify first, so that nothing is kept of somebody who isn't welcome, and saves the tokens before success, so that
 * a signed-in person always has them.
 */
export async function accept(
  { verdict, tokens: manager }: Accepting,
  request: Request,
  owner: OwnerSsoUser,
  tokens: TokenSet,
): Promise<Outcome> {
  const { user, info } = await verdict(request, owner, tokens)
  if (user === false) return { kind: 'fail', info, status: 401 }
  await manager.save(owner.account, tokens)
  return { kind: 'success', user, info }
}

/** The owner in the shape that Passport's strategies share (its "Contact Schema"). */
function profileOf(owner: OwnerSsoUser): Profile {
  return {
    provider: 'owner-sso',
    id: owner.account,
    displayName: owner.email ?? owner.account,
    ...(owner.email === undefined ? {} : { emails: [{ value: owner.email }] }),
  }
}
