/**
 * `ssoErrorHandler`: the proxy's answers to an `SsoError`, for the application's own routes.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { sendAnswer } from './answers/problem.ts'
import { ssoErrorAnswer } from './answers/sso-error.ts'

/** Express tells an error handler by its four arguments. */
export type ErrorMiddleware = (
  error: unknown,
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void

/**
 * An error handler that answers any `SsoError` (and any error caused by one) with its status, `Retry-After` or
 * `WWW-Authenticate`, and problem details. Other errors go on to the next handler.
 */
export function ssoErrorHandler(): ErrorMiddleware {
  return (error, _request, response, next) => {
    const answer = ssoErrorAnswer(error)
    if (!answer || response.headersSent) next(error)
    else sendAnswer(response, answer)
  }
}
