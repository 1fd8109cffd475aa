/**
 * A handler of the application's that throws where nobody catches it: the caller gets an answer and the process a warning,
 * with the place and without the error's words. It does not end the process, which other callers' refreshes are under way in.
 */
import type { ServerResponse } from 'node:http'
import { stackFrames } from '@owner-sso/core'
import { sendAnswer } from './answers/problem.ts'
import { refusal } from './answers/refusal.ts'

/** @param what - failed, such as `onError` */
export function answerFault(what: string, error: unknown, response: ServerResponse): void {
  warnOfFault(what, error)
  if (!response.writableEnded) sendAnswer(response, refusal('ERR_OWNER_API_INTERNAL'))
}

/** The warning alone. */
export function warnOfFault(what: string, error: unknown): void {
  process.emitWarning(`${what} failed.`, {
    type: 'OwnerSsoWarning',
    code: 'OWNER_SSO_CALLBACK',
    detail: stackFrames(error),
  })
}
