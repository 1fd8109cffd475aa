/**
 * A handler of the application's that throws where nobody catches it: the caller gets an answer and the process a warning,
 * with the place and without the error's words. It does not end the process, which other callers' refreshes are under way in.
 */
import type { ServerResponse } from 'node:http'
import { sendAnswer } from './answers/problem.ts'
import { refusal } from './answers/refusal.ts'

/** @param what - failed, such as `onError` */
export function answerFault(what: string, error: unknown, response: ServerResponse): void {
  warnOfFault(what, error)
  if (!response.writableEnded) sendAnswer(response, refusal('ERR_OWNER_API_INTERNAL'))
}

/** The warning alone, with the place: the frames of the stack, which begins with the error's words. */
export function warnOfFault(what: string, error: unknown): void {
  const stack = error instanceof Error ? String(error.stack) : ''
  const detail = stack
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /^at .+:\d+:\d+\)?$/u.test(line))
    .join('\n')
  process.emitWarning(`${what} failed.`, { type: 'OwnerSsoWarning', code: 'OWNER_SSO_CALLBACK', detail })
}
