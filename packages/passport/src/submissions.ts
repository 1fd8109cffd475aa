/**
 * An answer that is submitted twice at the same time, as a second click on the same button does it: it is sent once, and both
 * requests end alike. A browser shows the end of the last one alone, so that one must not be told that it came too late.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Outcome } from './outcomes.ts'
import type { WaitingLogin } from './waiting-login.ts'

/** What becomes of an answer. */
export interface Ending {
  readonly outcome: Outcome
  /** The login as it goes on, if it does. */
  readonly next?: WaitingLogin | undefined
}

/** The same, once the login is kept. */
export interface Kept {
  readonly outcome: Outcome
  /** Of the login that goes on; empty where none does. */
  readonly handle: string
}

export interface Submissions {
  /** What becomes of the same answer to the same login, where it is under way. */
  again(handle: string, answer: string): Promise<Kept | undefined> | undefined
  /** Sends an answer; `undefined` where another one was faster. */
  submit(handle: string, answer: string, send: () => Promise<Kept | undefined>): Promise<Kept | undefined>
}

/** Those of one process. An answer is kept as a digest, and for as long as it is under way. */
export function submissions(): Submissions {
  const underWay = new Map<string, { readonly digest: Buffer; readonly end: Promise<Kept | undefined> }>()
  return {
    again(handle, answer) {
      const one = underWay.get(handle)
      return one && timingSafeEqual(one.digest, digestOf(answer)) ? one.end : undefined
    },
    async submit(handle, answer, send) {
      const one = { digest: digestOf(answer), end: send() }
      // Where another answer is under way already, this one is told at once that it was faster.
      if (!underWay.has(handle)) underWay.set(handle, one)
      try {
        return await one.end
      } finally {
        if (underWay.get(handle) === one) underWay.delete(handle)
      }
    },
  }
}

function digestOf(answer: string): Buffer {
  return createHash('sha256').update(answer).digest()
}
