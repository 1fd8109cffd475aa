/**
 * The one script of the pages, which does nothing that they need: it writes each time as the reader's clock shows it (without it
 * they are read in UTC), and lets buttons copy (without it a field is selected and copied by hand).
 */
import { createHash } from 'node:crypto'

/** How a time is written, there and here. */
const parts = {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZoneName: 'short',
} as const

/** `26 Nov 2026, 22:51 UTC`. */
export const utcTime: Intl.DateTimeFormat = new Intl.DateTimeFormat('en-GB', { ...parts, timeZone: 'UTC' })

/** Stands at the end of each page. A field is selected as well, for whoever may not write to the clipboard. */
export const pageScript: string = `const local = new Intl.DateTimeFormat('en-GB', ${JSON.stringify(parts)})
for (const time of document.querySelectorAll('time')) time.textContent = local.format(new Date(time.dateTime))
for (const button of navigator.clipboard ? document.querySelectorAll('[data-copies]') : []) {
  button.hidden = false
  button.onclick = () => {
    const field = document.getElementById(button.dataset.copies)
    field.select()
    navigator.clipboard.writeText(field.value).then(() => (button.textContent = 'Copied'), () => undefined)
  }
}`

/** For `script-src` of the pages' Content-Security-Policy: this script, and no other. */
export const scriptSource: string = `'sha256-${createHash('sha256').update(pageScript).digest('base64')}'`
