/**
 * One run of a Passport strategy as a promise.
 */
import type { Request, RequestHandler, Response } from 'express'
import type { SignInFailure } from '@owner-sso/passport'
import type { Owner } from './account.ts'
import type { Portal } from './portal.ts'
import { failed, type Trouble, unavailable } from './trouble.ts'

/** What the strategy made of the request, ready to be shown. */
export type Outcome =
  | { readonly kind: 'success'; readonly owner: Owner }
  /** `url`: the service's login page, for a sign-in there. */
  | (Trouble & { readonly kind: 'failure'; readonly url?: string })

/** @throws only a fault of the portal's own: a service that can't be asked now is a failure with its status. */
export function authenticate(
  { passport }: Pick<Portal, 'passport'>,
  strategy: 'form' | 'browser',
  request: Request,
  response: Response,
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const decided = (error: Error | null, owner: Owner | false | null, failure: SignInFailure, status = 401): void => {
      if (error) {
        const problem = unavailable(error)
        return problem ? resolve({ kind: 'failure', ...problem }) : reject(error)
      }
      if (owner) return resolve({ kind: 'success', owner })
      const { code, url } = failure
      return resolve({ kind: 'failure', code, problem: failed(failure), status, ...(url !== undefined && { url }) })
    }
    const run: RequestHandler = passport.authenticate(strategy, decided)
    void run(request, response, reject)
  })
}
