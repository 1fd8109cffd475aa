/**
 * The results of the application's own functions, `authorize` and `account`, within a time limit: a promise that never settles
 * would keep its caller waiting for ever.
 */
import { answeredInTime } from '@owner-sso/core'
import type { Answer } from './answers/problem.ts'
import { ownerApiErrorAnswer, type OwnerApiErrorCode } from './answers/owner-api-error.ts'
import { property } from './property.ts'

/** Milliseconds, where no option says how many. */
export const defaultWait = 30_000

/** A function of the application's that did not settle in time. Nothing was sent. */
class UnsettledError extends Error {
  readonly code: OwnerApiErrorCode = 'ERR_OWNER_API_TIMEOUT'
  constructor(option: string, milliseconds: number) {
    super(
      `The option ${option} has given no result for ${milliseconds} ms: its promise did not settle. Nothing was sent.`,
    )
    this.name = 'UnsettledError'
  }
}

/**
 * What one of these functions returned, or what its promise resolves to.
 *
 * @param option - the function's name
 * @throws UnsettledError, and what the promise is rejected with
 */
export function resultInTime<Result>(
  option: string,
  milliseconds: number,
  result: Result | Promise<Result>,
): Result | Promise<Result> {
  if (typeof property(result, 'then') !== 'function') return result
  return answeredInTime(
    milliseconds,
    async () => result,
    () => new UnsettledError(option, milliseconds),
  )
}

/** The answer to an {@link UnsettledError}; `undefined` for any other. */
export function unsettledAnswer(error: unknown): Answer | undefined {
  return error instanceof UnsettledError ? ownerApiErrorAnswer(error.code) : undefined
}
