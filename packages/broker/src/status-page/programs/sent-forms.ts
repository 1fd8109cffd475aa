/**
 * Forms that do something once. One that is sent again, as by a reload of what it was answered with, does nothing; nor does
 * one that is older than a day, or was made for another visitor or program. So what was sent is remembered for a day.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto'
import { notebook, type TokenStore } from '@owner-sso/core'
import { BadRequestError, type Visit, expiredForm } from '../visit.ts'
import { livingNotes } from '../living-notes.ts'
import { isEqual } from '../visitor.ts'

/** Seconds that a page with a form may lie open. */
const lifetime = 86_400

/** Forms in that time, at all instances that share the store: as many as a record has room for. */
const most = 1000

/** For the hidden field `form` of a form that is posted to where it is shown. */
export function newForm(visit: Visit): string {
  const text = `${Math.floor(Date.now() / 1000) + lifetime}.${randomBytes(16).toString('base64url')}`
  return `${text}.${signatureOf(text, visit)}`
}

/** @returns what says whether a form is sent for the first time. It throws BadRequestError, StoreError */
export function sentForms(store: TokenStore): (visit: Visit) => Promise<boolean> {
  const notes = notebook(store, 'sent-forms')
  return async (visit) => {
    const form = visit.form.get('form') ?? ''
    const [end = '', nonce = '', signature = ''] = form.split('.')
    const until = Number(end)
    if (!isEqual(signature, signatureOf(`${end}.${nonce}`, visit)) || until <= Date.now() / 1000) throw expiredForm()
    const name = createHash('sha256').update(form).digest('base64url')
    let isFirst = false
    await notes.change((all) => {
      const sent = livingNotes(all)
      isFirst = !sent.has(name)
      if (isFirst && sent.size >= most)
        throw new BadRequestError(429, 'Too many forms were sent today. Use owner-sso broker.')
      return isFirst ? Object.fromEntries(sent.set(name, { until })) : all
    })
    return isFirst
  }
}

/** Signed with the visitor's form token, which no other page has, for one address and the program in it. */
function signatureOf(text: string, { visitor, url }: Visit): string {
  const purpose = `${url.pathname} ${url.searchParams.get('name') ?? ''}`
  return createHmac('sha256', visitor.formToken).update(`${text} ${purpose}`).digest('base64url')
}
