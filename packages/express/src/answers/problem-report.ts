/**
 * The details behind an answer, for a log. Callers get one fixed sentence for each code; paths, hosts, keys and system codes
 * are for the operator alone. Without a listener, a warning of the process tells each cause once.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { stackFrames } from '@owner-sso/core'
import { property } from '../property.ts'
import { ownerApiErrorAnswer } from './owner-api-error.ts'
import { type Answer, type Problem, sendAnswer } from './problem.ts'
import { ssoErrorIn } from './sso-error.ts'

/**
 * Is told of every answer that an error is behind, before it is written. The error holds no secret, but it may name a path, a
 * host or a key of a store. What the function throws, or rejects with, is a warning of the process, and changes nothing about
 * the answer.
 */
export type ProblemListener<Request extends IncomingMessage = IncomingMessage> = (
  error: unknown,
  problem: Problem,
  request: Request,
) => void

/**
 * Tells the listener, or who reads the process's warnings, and gives the answer back.
 *
 * @param host - that the call was for, where the error does not know it
 */
export function reported<Request extends IncomingMessage>(
  answer: Answer,
  error: unknown,
  request: Request,
  onProblem: ProblemListener<Request> | undefined,
  host?: string,
): Answer {
  if (onProblem === undefined) {
    warnOnce(answer, error, host)
    return answer
  }
  // Called at once. A promise that it returns is caught as well: nobody else would catch its rejection.
  const listened = new Promise<void>((resolve) => resolve(onProblem(error, answer.problem, request)))
  listened.catch((thrown: unknown) => warnOfFault('onProblem', thrown))
  return answer
}

/**
 * A handler of the application that throws where nobody catches it: the caller gets an answer, and the process emits a warning
 * with the stack and without the error's message. The process goes on: other callers' refreshes are under way in it.
 *
 * @param what - failed, such as `onError`
 */
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

/** The causes that were told, a hundred at the most: by then somebody reads the warnings, or nobody will. */
const told = new Set<string>()
const mostTold = 100

/** The times in a message: they differ each time, and the cause is the same. */
const time = /\d{4}-\d\d-\d\dT[\d:.]+Z/gu

function warnOnce({ status, problem }: Answer, error: unknown, host: string | undefined): void {
  const cause = causeOf(status, problem, error)
  if (cause === undefined) return
  const about = host !== undefined && problem.code.startsWith('ERR_OWNER_API') ? ` (${host})` : ''
  const text = `${problem.code}${about}: ${cause}`
  const key = text.replaceAll(time, '')
  if (told.has(key) || told.size >= mostTold) return
  told.add(key)
  process.emitWarning(`${text} Callers get ${status}. This is told once; the option onProblem hears of it each time.`, {
    type: 'OwnerSsoWarning',
    code: 'OWNER_SSO_PROBLEM',
    ...(isUnknown(problem) && { detail: stackFrames(error) }),
  })
}

/** The message of an error that is nobody's we know may have anything in it. */
const isUnknown = ({ code }: Problem): boolean => code.endsWith('_INTERNAL')

/** `undefined` where it is the caller's own: nobody else can mend it. */
function causeOf(status: number, problem: Problem, error: unknown): string | undefined {
  const ssoError = ssoErrorIn(error)
  if (status < 500) {
    const hint = property(property(ssoError, 'cause'), 'message')
    return ssoError?.code === 'ERR_SSO_SIGNED_OUT' && typeof hint === 'string' ? hint : undefined
  }
  if (ssoError) return ssoError.message
  const message = property(error, 'message')
  if (isUnknown(problem) || typeof message !== 'string' || message === problem.code) return problem.detail
  return `${problem.detail} ${message}${/[.!?]$/u.test(message) ? '' : '.'}`
}
