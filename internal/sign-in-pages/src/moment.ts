/**
 * A point in time on a page, in the reader's time zone.
 */
import { refusalAdvice, type TokenStatus } from '@owner-sso/core'
import { html } from 'hono/html'
import type { Html } from './frame.ts'
import { utcTime } from './page-script.ts'

/** @param at - seconds since the epoch */
export function moment(at: number): Html {
  const date = new Date(at * 1000)
  return html`<time datetime="${date.toISOString()}">${utcTime.format(date)}</time>`
}

/** What `refusalAdvice` says, with its time as a `moment`. */
export function refusalNotice(status: TokenStatus): Html | undefined {
  const sentence = refusalAdvice(status, () => '\n')
  if (sentence === undefined) return undefined
  const [before, after] = sentence.split('\n')
  return html`${before}${after !== undefined && html`${moment(status.expires_at ?? 0)}${after}`}`
}
