/**
 * The details behind an answer, for a log. Callers get one fixed sentence for each code; paths, hosts, keys and system codes
 * are for the operator alone. Without a listener, a warning of the process tells each cause once.
 */
import type { IncomingMessage } from 'node:http'
import { warnOfFault } from '../handler-fault.ts'
import type { Answer, Problem } from './problem.ts'
import { warnOfProblem } from './problem-warning.ts'

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
    warnOfProblem(answer, error, host)
    return answer
  }
  // Called at once. A promise that it returns is caught as well: nobody else would catch its rejection.
  const listened = new Promise<void>((resolve) => resolve(onProblem(error, answer.problem, request)))
  listened.catch((thrown: unknown) => warnOfFault('onProblem', thrown))
  return answer
}
