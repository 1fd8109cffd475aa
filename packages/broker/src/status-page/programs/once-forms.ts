/**
 * Forms that do something once. One that is sent again, as by a reload of what it was answered with, does nothing; nor does
 * one that is older than a day, or was made for another visitor or program.
 */
import { randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { type Visit, expiredForm } from '../visit.ts'

/** Milliseconds that a page with a form may lie open. */
const lifetime = 86_400_000

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
