/**
 * The parts that forms share: the token that proves where a form comes from, a field with its complaint, a notice, a button that copies.
 */
import { visible } from '@owner-sso/core'
import { html } from 'hono/html'
import type { Html } from './frame.ts'

/** Something to tell: what happened, and what to do about it. */
export interface Notice {
  readonly title: string
  readonly text?: string
  /** A way out of it. */
  readonly link?: { readonly href: string; readonly label: string }
}

/** What is wrong with a form, by field name. */
export type Complaints = Readonly<Partial<Record<string, string>>>

/** The hidden field that proves where a form comes from (S56). */
export function csrfField(csrfToken: string): Html {
  return html`<input type="hidden" name="_csrf" value="${csrfToken}" />`
}

/** A notice; a bad one is announced at once by screen readers, a good one when they come to it. */
export function noticeBox(notice: Notice | undefined, kind: 'bad' | 'good'): Html {
  if (notice === undefined) return html``
  const { title, text, link } = notice
  return html`<div class="notice ${kind}" role="${kind === 'bad' ? 'alert' : 'status'}">
    <strong>${visible(title)}</strong>
    ${text && html`<p>${visible(text)}</p>`} ${link && html`<p><a href="${link.href}">${link.label}</a></p>`}
  </div>`
}

/** A field with its label, and what is wrong with it. @param input - has the `inputAttributes` of that name */
export function field(name: string, label: string, input: Html, complaints: Complaints = {}): Html {
  const complaint = complaints[name]
  return html`<div class="field">
    <label for="${name}">${label}</label>
    ${input} ${complaint && html`<p class="complaint" id="${name}-complaint" role="alert">${complaint}</p>`}
  </div>`
}

/** What names an input of a `field`, and ties it to its complaint. */
export function inputAttributes(name: string, complaints: Complaints = {}): Html {
  const wrong = complaints[name] && html`aria-invalid="true" aria-describedby="${name}-complaint"`
  return html`id="${name}" name="${name}" required ${wrong}`
}

/** Copies a field. It shows only where a script can copy. @param id - of an input or a text area */
export function copyButton(id: string, label: string): Html {
  return html`<p>
    <button class="button plain small" type="button" data-copies="${id}" aria-live="polite" hidden>${label}</button>
  </p>`
}
