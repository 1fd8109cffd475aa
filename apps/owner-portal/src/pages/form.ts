/**
 * The parts that forms share: the CSRF token, a field with its complaint, a notice.
 */
import { html } from 'hono/html'
import type { Html } from './layout.ts'

/** What every page with a form knows. */
export interface FormContext {
  /** The session's CSRF token, posted back as `_csrf`. */
  readonly csrfToken: string
}

/** Something to tell: what happened, and what to do about it. */
export interface Notice {
  readonly title: string
  readonly text?: string
  /** A way out of it. */
  readonly link?: { readonly href: string; readonly label: string }
}

/** What is wrong with a form, by field name. */
export type Complaints = Readonly<Partial<Record<string, string>>>

/** The hidden field of S56. */
export function csrfField(csrfToken: string): Html {
  return html`<input type="hidden" name="_csrf" value="${csrfToken}" />`
}

/** A notice; a bad one is announced at once by screen readers, a good one when they come to it. */
export function noticeBox(notice: Notice | undefined, kind: 'bad' | 'good'): Html {
  if (!notice) return html``
  return html`<div class="notice ${kind}" role="${kind === 'bad' ? 'alert' : 'status'}">
    <strong>${notice.title}</strong>
    ${notice.text && html`<p>${notice.text}</p>`}
    ${notice.link && html`<p><a href="${notice.link.href}">${notice.link.label}</a></p>`}
  </div>`
}

/** The attributes that tie a field to its complaint. */
export function complaintAttributes(name: string, complaints: Complaints): Html {
  return complaints[name] ? html`aria-invalid="true" aria-describedby="${name}-complaint"` : html``
}

/** The complaint itself, under its field. */
export function complaint(name: string, complaints: Complaints): Html {
  const text = complaints[name]
  return text ? html`<p class="complaint" id="${name}-complaint" role="alert">${text}</p>` : html``
}
