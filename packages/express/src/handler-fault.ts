/**
 * A handler of the application that throws where nobody catches it: the caller gets an answer, and the process emits a warning
 * with the stack and without the error's message. The process goes on: other callers' refreshes are under way in it.
 */
import type { ServerResponse } from 'node:http'
import { stackFrames } from '@owner-sso/core'
import { sendAnswer } from './answers/problem.ts'
import { ownerApiErrorAnswer } from './answers/owner-api-error.ts'

/** @param what - failed, such as `onError` */
export function answerFault(what: string, error: unknown, response: ServerResponse): void {
  warnOfFault(what, error)
  if (!response.writableEnded) sendAnswer(response, ownerApiErrorAnswer('ERR_OWNER_API_INTERNAL'))
}

/** The warning alone. */
export function warnOfFault(what: string, error: unknown): void {
  process.emitWarning(`${what} failed.`, {
    type: 'OwnerSsoWarning',
    code: 'OWNER_SSO_CALLBACK',
    detail: stackFrames(error),
  })
}
