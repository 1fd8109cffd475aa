/**
 * Whose token: the options `tokens` and `account`, as everything here takes them.
 */
import { answeredInTime, kinds, type OptionRow, SignedOutError, type TokenManager, whatCame } from '@owner-sso/core'
import type { IncomingMessage } from 'node:http'
import { OwnerCallError } from './answers/owner-api-error.ts'
import { property } from './property.ts'

/** What is needed of a token manager. Without `accepted` it is not told which tokens the owner API takes. */
export type Tokens = Pick<TokenManager, 'getAccessToken'> & {
  invalidate(...args: Parameters<TokenManager['invalidate']>): Promise<unknown>
} & Partial<Pick<TokenManager, 'accepted'>>

/** The account: its name, or a function of the request. `undefined`: nobody is signed in. */
export type AccountSource<Request> = string | ((request: Request) => string | undefined | Promise<string | undefined>)

/** The option `tokens`. */
export const tokensRow: OptionRow = kinds.required(
  kinds.having('what createTokenManager() returns', 'getAccessToken', 'invalidate'),
)

/**
 * A function that tells a request's account.
 *
 * @param timeLimit - milliseconds that the application's function has for it
 * @throws TypeError where `account` is neither a name nor a function
 */
export function accountReader<Request>(
  account: AccountSource<Request> | undefined,
  timeLimit = 30_000,
): (request: Request) => string | undefined | Promise<string | undefined> {
  if (typeof account === 'function') return (request) => resultInTime('account', timeLimit, account(request))
  if (typeof account !== 'string' || account === '') {
    const came = account === '' ? '; empty text came' : whatCame(account)
    throw new TypeError(`account must be a name or a function of the request${came}`)
  }
  return () => account
}

/**
 * What a function of the application's returned, or what its promise resolves to: one that never settles would keep its caller
 * waiting for ever.
 *
 * @param option - the function's name
 * @throws OwnerCallError where it takes too long, and what the promise is rejected with
 */
export function resultInTime<Result>(
  option: string,
  milliseconds: number,
  result: Result | Promise<Result>,
): Result | Promise<Result> {
  if (typeof property(result, 'then') !== 'function') return result
  const problem = `The option ${option} has given no result for ${milliseconds} ms: its promise did not settle. Nothing was sent.`
  return answeredInTime(
    milliseconds,
    async () => result,
    () => new OwnerCallError('ERR_OWNER_API_TIMEOUT', problem),
  )
}

/** @throws SignedOutError where a request has no account */
export function requireAccount(account: string | undefined): string {
  if (account === undefined || account === '') throw new SignedOutError()
  return account
}

/**
 * The default: the account of the user whom Passport (or anything else) has put on the request.
 *
 * @throws SignedOutError with a cause for the developer, where nothing can have put one there
 */
export function accountOfUser(request: IncomingMessage): string | undefined {
  const user = property(request, 'user')
  const account = property(user, 'account')
  if (typeof account === 'string' && account !== '') return account
  // Passport's session puts its own functions on every request, also where nobody is signed in.
  const isRead = user === undefined && typeof property(request, 'isAuthenticated') === 'function'
  if (isRead || user === null) return undefined
  const hint =
    user === undefined
      ? 'A request had no req.user. Is passport.session(), or what else sets req.user, before it? If nothing does, give the option account.'
      : 'A request had a req.user without an account. Give the option account: a function of the request.'
  throw Object.assign(new SignedOutError(), { cause: new Error(hint) })
}
