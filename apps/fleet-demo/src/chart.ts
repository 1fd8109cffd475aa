/**
 * The refreshes of the last minute as bars, one for each second; challenges stand on top of them.
 */
import { html } from 'hono/html'
import type { Html } from './markup.ts'
import type { Second } from './monitor.ts'

const height = 90
const step = 10
/** Requests that the full height stands for, at the least. */
const leastScale = 30

export function chart(seconds: readonly Second[]): Html {
  const most = Math.max(...seconds.map(({ refreshes, challenges }) => refreshes + challenges))
  const unit = height / Math.max(leastScale, most)
  const bars = seconds.map(({ refreshes, challenges }, index) => {
    const sent = refreshes * unit
    const refused = challenges * unit
    return html`<rect class="sent" x="${index * step}" y="${height - sent}" width="${step - 2}" height="${sent}" />
      <rect
        class="refused"
        x="${index * step}"
        y="${height - sent - refused}"
        width="${step - 2}"
        height="${refused}"
      />`
  })
  return html`<svg
    viewBox="0 0 ${seconds.length * step} ${height}"
    preserveAspectRatio="none"
    role="img"
    aria-label="Refreshes of each second of the last minute; the most: ${most}"
  >
    ${bars}
  </svg>`
}
