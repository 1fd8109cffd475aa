/**
 * How a call of the owner API ends: once, with its answer, with one of ours, or because the caller has gone.
 */
import type { ServerResponse } from 'node:http'
import { startTimeLimit } from '@owner-sso/core'
import type { Dispatcher } from 'undici'
import { failureAnswer, OwnerCallError } from '../answers/owner-api-error.ts'
import { type Answer, sendAnswer } from '../answers/problem.ts'
import type { RequestBody } from './upstream-request.ts'
import type { SilenceLimit } from './delivery.ts'

/** Why a request to the owner API is broken off: its answer has nowhere to go. */
export const callOver: Error = new Error('the call is over')

export interface EndingOptions {
  readonly response: ServerResponse
  readonly content: RequestBody['content']
  /** Milliseconds for all of the call. */
  readonly maxDuration: number
  /** Tells whoever keeps a log what an answer of ours leaves out, and gives the answer back. */
  readonly report: (answer: Answer, error: unknown) => Answer
}

export interface Ending {
  readonly isOver: () => boolean
  /** Ends the call with an answer of ours, once. */
  readonly end: (answer: Answer, error: unknown) => void
  /** Ends it with the answer to an error. */
  readonly fail: (error: unknown) => void
  /** The request that is under way from now on: broken off when the call ends early. */
  readonly follow: (request: Dispatcher.DispatchController, silence: SilenceLimit) => void
}

/** Starts the time limit of a call, and watches its caller. */
export function callEnding({ response, content, maxDuration, report }: EndingOptions): Ending {
  let request: Dispatcher.DispatchController | undefined
  let silence: SilenceLimit | undefined
  let isOver = false

  const end: Ending['end'] = (answer, error) => {
    if (isOver) return
    isOver = true
    sendAnswer(response, report(answer, error))
    request?.abort(callOver)
    // Where there was no connection, undici was never given the body.
    if (!Buffer.isBuffer(content)) content?.destroy()
  }
  const fail = (error: unknown): void => end(failureAnswer(error), error)

  const endLimit = startTimeLimit(maxDuration, () => fail(new OwnerCallError('ERR_OWNER_API_TIMEOUT')))
  response.once('close', () => {
    endLimit()
    silence?.end()
    isOver = true
    if (!response.writableFinished) request?.abort(callOver)
  })
  return {
    isOver: () => isOver,
    end,
    fail,
    follow(next, itsSilence) {
      request = next
      silence = itsSilence
      if (isOver) next.abort(callOver)
    },
  }
}
