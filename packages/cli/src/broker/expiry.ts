/**
 * How long an invitation holds, as people write it.
 */
import { usageError } from '../command-line/command-error.ts'

const units: Readonly<Record<string, number>> = { m: 60, h: 3600, d: 86_400 }

/**
 * `30d`, `12h`, `90m`, or a date such as `2030-01-31`.
 *
 * @param now - seconds since the epoch
 * @returns seconds since the epoch; nothing for no end
 * @throws CommandError for anything else, and for what is over
 */
export function expiryOf(text: string | undefined, now: number = Date.now() / 1000): number | undefined {
  if (text === undefined) return undefined
  const [, count, unit = ''] = /^(\d{1,6})([mhd])$/u.exec(text) ?? []
  const isDate = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z)?$/u.test(text)
  const until =
    count === undefined ? (isDate ? Date.parse(text) / 1000 : Number.NaN) : now + Number(count) * (units[unit] ?? 0)
  if (until > now) return Math.floor(until)
  throw usageError(
    `${JSON.stringify(text)} is no time in the future.`,
    'Give --expires a duration (30d, 12h, 90m) or a date (2030-01-31).',
  )
}
