/**
 * `ssoErrorHandler`: the proxy's answers to an `SsoError`, for the application's own routes.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { checkOptions, kinds } from '@owner-sso/core'
import { sendAnswer } from './answers/problem.ts'
import { type ProblemListener, reported } from './answers/problem-report.ts'
import { ssoErrorAnswer } from './answers/sso-error.ts'

/** Express tells an error handler by its four arguments. */
export type ErrorMiddleware = (
  error: unknown,
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void

/** Who is told what an answer leaves out. */
export interface SsoErrorHandlerOptions {
  /** Is told of every error that is answered, for a log. The answer itself has one fixed sentence for each code. Default: a warning of the process, once for each cause. */
  readonly onProblem?: ProblemListener | undefined
}

/**
 * An error handler that answers any `SsoError` (and any error caused by one) with its status, `Retry-After` or
 * `WWW-Authenticate`, and problem details. Other errors, and those of an answer that has begun, go on to the next handler.
 *
 * @throws TypeError that names a wrong option
 */
export function ssoErrorHandler(options: SsoErrorHandlerOptions = {}): ErrorMiddleware {
  const { onProblem } = checkOptions('ssoErrorHandler', options, { onProblem: kinds.function })
  return (error, request, response, next) => {
    const answer = ssoErrorAnswer(error)
    if (!answer || response.headersSent) next(error)
    else sendAnswer(response, reported(answer, error, request, onProblem))
  }
}
