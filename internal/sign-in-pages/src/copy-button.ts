/**
 * A button that copies a field. It shows only where a script can copy: without it the field is selected and copied by hand.
 */
import { html } from 'hono/html'
import type { Html } from './frame.ts'

/** @param id - of an input or a text area */
export function copyButton(id: string, label: string): Html {
  return html`<p>
    <button class="button plain small" type="button" data-copies="${id}" aria-live="polite" hidden>${label}</button>
  </p>`
}
