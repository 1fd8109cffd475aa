/**
 * An answer that is submitted twice at the same time, as by a double click on the button: it is sent once, and both requests end
 * alike. A browser shows only what the last one ends with, so that must not be "too late".
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Outcome } from './outcomes.ts'
import type { KeptLogin } from './pending-login.ts'

/** What becomes of an answer. */
export interface Ending {
  readonly outcome: Outcome
  /** The login as it goes on, if it does. */
  readonly next?: KeptLogin | undefined
}

/** The same, once the login is stored. */
export interface Kept {
  readonly outcome: Outcome
  /** The handle of the login that goes on; empty where none does. */
  readonly handle: string
}

export interface Submissions<End> {
  /** What becomes of the same answer in the same place, where it is under way. */
  again(place: string, answer: string): Promise<End> | undefined
  /** Sends an answer. */
  submit(place: string, answer: string, send: () => Promise<End>): Promise<End>
}

/** Those of one process. An answer is kept as a digest, and for as long as it is under way. */
export function submissions<End>(): Submissions<End> {
  const underWay = new Map<string, { readonly digest: Buffer; readonly end: Promise<End> }>()
  return {
    again(place, answer) {
      const one = underWay.get(place)
      return one && timingSafeEqual(one.digest, digestOf(answer)) ? one.end : undefined
    },
    async submit(place, answer, send) {
      const one = { digest: digestOf(answer), end: send() }
      // Where another answer is under way already, a repeat of this one is not joined with it.
      if (!underWay.has(place)) underWay.set(place, one)
      try {
        return await one.end
      } finally {
        if (underWay.get(place) === one) underWay.delete(place)
      }
    },
  }
}

function digestOf(answer: string): Buffer {
  return createHash('sha256').update(answer).digest()
}
