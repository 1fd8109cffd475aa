/**
 * What the application's own functions say, `authorize` and `account`, in the time that they have for it. One that never settles
 * would hold its caller for ever.
 */
import { answeredInTime } from '@owner-sso/core'
import type { Answer } from './answers/problem.ts'
import { refusal, type RefusalCode } from './answers/refusal.ts'
import { property } from './property.ts'

/** Milliseconds, where no option says how many. */
export const usualPatience = 30_000

/** A function of the application's that did not settle in time. Nothing was sent. */
class UnsettledError extends Error {
  readonly code: RefusalCode = 'ERR_OWNER_API_TIMEOUT'
  constructor(option: string, milliseconds: number) {
    super(`The option ${option} has said nothing for ${milliseconds} ms: its promise did not settle. Nothing was sent.`)
    this.name = 'UnsettledError'
  }
}

/**
 * What a function of the application's returned, or what its promise comes to.
 *
 * @param option - the function's name
 * @throws UnsettledError, and what the promise is rejected with
 */
export function wordOf<Word>(option: string, milliseconds: number, word: Word | Promise<Word>): Word | Promise<Word> {
  if (typeof property(word, 'then') !== 'function') return word
  return answeredInTime(
    milliseconds,
    async () => word,
    () => new UnsettledError(option, milliseconds),
  )
}

/** The answer to an {@link UnsettledError}; `undefined` for any other. */
export function unsettledAnswer(error: unknown): Answer | undefined {
  return error instanceof UnsettledError ? refusal(error.code) : undefined
}
