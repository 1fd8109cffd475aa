/**
 * Forms that do something once. One that is sent again, as by a reload of what it was answered with, does nothing.
 */
import { createHash, randomBytes } from 'node:crypto'
import { notebook, type TokenStore } from '@owner-sso/core'

/** The last forms that are known to have been sent, at all instances that share the store. */
const most = 100

/** For the hidden field `form` of one form. */
export function newForm(): string {
  return randomBytes(16).toString('base64url')
}

/** @returns what says whether a form is sent for the first time. It throws StoreError */
export function sentForms(store: TokenStore): (form: string) => Promise<boolean> {
  const notes = notebook(store, 'sent-forms')
  return async (form) => {
    const hash = createHash('sha256').update(form).digest('base64url')
    let isFirst = false
    await notes.change((all) => {
      const sent: unknown[] = Array.isArray(all['sent']) ? all['sent'] : []
      isFirst = !sent.includes(hash)
      return isFirst ? { sent: [...sent, hash].slice(-most) } : all
    })
    return isFirst
  }
}
