/**
 * What stands behind an option: a span of time as people write it (`90s`, `15m`, `2h`, `30d`), a moment, a port.
 */
import { usageError } from '../failure/command-error.ts'

const units: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3600, d: 86_400 }

/**
 * Seconds; a bare number is seconds. Undefined where the option was not given.
 *
 * @param option - whose value it is, for the message
 * @throws CommandError for anything else, and for an empty span
 */
export function timeSpan(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const seconds = secondsIn(text)
  if (seconds > 0) return seconds
  throw usageError(
    `${JSON.stringify(text)} is no span of time.`,
    `Give ${option} a number and its unit: 90s, 15m, 2h or 30d.`,
  )
}

/**
 * When something ends: after `30d`, `12h` or `90m`, or on a date such as `2030-01-31`.
 *
 * @returns seconds since the epoch
 * @throws CommandError for anything else, and for what is over
 */
export function endOf(option: string, text: string): number {
  const now = Date.now() / 1000
  const isDate = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z)?$/u.test(text)
  const end = isDate ? Date.parse(text) / 1000 : /[mhd]$/u.test(text) ? now + secondsIn(text) : 0
  if (end > now) return Math.floor(end)
  throw usageError(
    `${JSON.stringify(text)} is no time in the future.`,
    `Give ${option} a duration (30d, 12h, 90m) or a date (2030-01-31).`,
  )
}

function secondsIn(text: string): number {
  const [, digits = '', unit = ''] = /^(\d{1,9})([smhd]?)$/u.exec(text) ?? []
  return Number(digits) * (units[unit] ?? 0)
}

/** A port to listen on. @throws CommandError for what is none */
export function portOf(text: string): number {
  if (/^\d{1,5}$/u.test(text) && Number(text) <= 65_535) return Number(text)
  throw usageError(`${JSON.stringify(text)} is not a port.`, 'Give --port a number from 0 (any free one) to 65535.')
}
