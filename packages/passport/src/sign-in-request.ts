/**
 * One request to the strategy, read: what it posts, its session, and how the route is set up.
 */
import type { Request } from 'express'
import { checkAuthenticateOptions, type RequestOptions } from './authenticate-options.ts'
import { type LoginSession, requiredLoginSession } from './login-session.ts'
import type { StrategySettings } from './options.ts'
import { type RequestFields, requestFields } from './request-fields.ts'

export interface SignInRequest {
  readonly request: Request
  readonly options: RequestOptions
  readonly fields: RequestFields
  /** Absent where the application signs in without sessions. */
  readonly session: LoginSession | undefined
}

/** @throws TypeError for a mistyped option, and where the session that Passport will need is missing. */
export function signInRequest(settings: StrategySettings, request: Request, options: RequestOptions): SignInRequest {
  checkAuthenticateOptions(options)
  return {
    request,
    options,
    fields: requestFields(request.body, settings.fields),
    session: requiredLoginSession(request, options, settings),
  }
}
