/**
 * The answer to an error, and what is told of it to whoever keeps a log.
 */
import type { IncomingMessage } from 'node:http'
import { type Answer, type ProblemListener, reported, ssoErrorAnswer, warnOfFault } from '@owner-sso/express'
import { ClientsError } from '../clients/clients-error.ts'
import { refusal, RefusedCall } from './refusal.ts'

export interface Reports {
  /** The answer to what went wrong in a call. */
  readonly answerTo: (error: unknown, request: IncomingMessage) => Answer
}

/** @param onProblem - is told of every error that is not the caller's own */
export function reportsTo(onProblem: ProblemListener | undefined): Reports {
  return {
    answerTo(error, request) {
      if (error instanceof RefusedCall) return refusal(error.code, error.headers)
      const known = error instanceof ClientsError ? refusal('ERR_BROKER_CLIENTS') : ssoErrorAnswer(error)
      const answer = known ?? refusal('ERR_BROKER_INTERNAL')
      if (known === undefined) {
        warnOfFault('the broker', error)
        // Told once is enough.
        if (onProblem === undefined) return answer
      }
      return reported(answer, error, request, onProblem)
    },
  }
}
