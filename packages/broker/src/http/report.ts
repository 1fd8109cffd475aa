/**
 * The answer to an error, and what is told of it to whoever keeps a log.
 */
import type { IncomingMessage } from 'node:http'
import type { ProblemListener } from '@owner-sso/express'
import { type Answer, reported, ssoErrorAnswer, warnOfFault } from '@owner-sso/express/support'
import { ClientsError } from '../clients/clients-error.ts'
import { rejection, RejectedCall } from './rejection.ts'

export interface Reports {
  /** The answer to what went wrong in a call. */
  readonly answerTo: (error: unknown, request: IncomingMessage) => Answer
}

/** @param onProblem - is told of every error that is not the caller's own */
export function reportsTo(onProblem: ProblemListener | undefined): Reports {
  return {
    answerTo(error, request) {
      if (error instanceof RejectedCall) return rejection(error.code, error.headers, error.message)
      const known = error instanceof ClientsError ? rejection('ERR_BROKER_CLIENTS') : ssoErrorAnswer(error)
      const answer = known ?? rejection('ERR_BROKER_INTERNAL')
      // With where it happened, for whoever reports it. The answer's own warning would say less.
      if (known === undefined) {
        warnOfFault('the broker', error)
        if (onProblem === undefined) return answer
      }
      return reported(answer, error, request, onProblem)
    },
  }
}
