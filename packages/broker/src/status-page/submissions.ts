/**
 * What a person submits, one thing after the other: a second click on the same button is the same submission, and whatever else
 * is sent meanwhile waits for its turn.
 */
import { randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { type Visit, expiredForm } from './visit.ts'

/** Answers a request with what became of a submission. */
export type Reply = (visit: Visit) => Promise<void> | void

interface UnderWay {
  readonly what: string
  readonly reply: Promise<Reply>
}

/** @returns what submits, once for requests of one visitor that say the same at the same time */
export function submissions(): (visit: Visit, submit: () => Promise<Reply>) => Promise<void> {
  const underWay = new Map<string, UnderWay>()
  return async (visit, submit) => {
    const { visitor, url, form } = visit
    const what = `${url.pathname} ${form.toString()}`
    const last = underWay.get(visitor.id)
    if (last?.what === what) return (await last.reply)(visit)
    const reply = last === undefined ? submit() : last.reply.then(submit, submit)
    const own = { what, reply }
    underWay.set(visitor.id, own)
    try {
      await (
        await reply
      )(visit)
    } finally {
      if (underWay.get(visitor.id) === own) underWay.delete(visitor.id)
    }
  }
}

/** Milliseconds that a page with a form may lie open. */
const lifetime = 86_400_000

/**
 * Forms that do something once. One that is sent again, as by a reload of what it was answered with, does nothing; nor does
 * one that is older than a day, or was made for another visitor or program.
 */
export interface OnceForms {
  /** For the hidden field `form` of a form that is posted to where it is shown. */
  readonly make: (visit: Visit) => string
  /** Whether a form is sent for the first time. @throws BadRequestError */
  readonly isFirst: (visit: Visit) => boolean
}

/** Those of this process: a form that was made before a restart has expired. */
export function onceForms(): OnceForms {
  const forms = new LRUCache<string, { readonly of: string; wasSent: boolean }>({
    max: 10_000,
    ttl: lifetime,
    perf: Date,
  })
  return {
    make(visit) {
      const name = randomBytes(16).toString('base64url')
      forms.set(name, { of: purposeOf(visit), wasSent: false })
      return name
    },
    isFirst(visit) {
      const form = forms.get(visit.form.get('form') ?? '')
      if (form?.of !== purposeOf(visit)) throw expiredForm()
      const isFirst = !form.wasSent
      form.wasSent = true
      return isFirst
    },
  }
}

/** The visitor, and the address with the program that it names. */
function purposeOf({ visitor, url }: Visit): string {
  return `${visitor.id} ${url.pathname} ${url.searchParams.get('name') ?? ''}`
}
