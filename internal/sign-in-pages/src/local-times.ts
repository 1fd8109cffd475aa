/**
 * A script that writes each time as the reader's clock shows it. Without it they are read in UTC.
 */

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

export const localTimesScript: string = `const local = new Intl.DateTimeFormat('en-GB', ${JSON.stringify(parts)})
for (const time of document.querySelectorAll('time')) time.textContent = local.format(new Date(time.dateTime))`
