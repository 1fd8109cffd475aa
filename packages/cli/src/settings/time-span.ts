/**
 * Spans of time as people write them: `90s`, `15m`, `2h`, `30d`; a bare number is seconds.
 */
import { usageError } from '../command-line/command-error.ts'

const units: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3600, d: 86_400 }

/**
 * Seconds.
 *
 * @param option - whose value it is, for the message
 * @throws CommandError for anything else, and for nothing at all
 */
export function timeSpan(option: string, text: string): number {
  const [, digits = '', unit = ''] = /^(\d{1,9})([smhd]?)$/u.exec(text) ?? []
  const seconds = Number(digits) * (units[unit] ?? 0)
  if (seconds > 0) return seconds
  throw usageError(
    `${JSON.stringify(text)} is no span of time.`,
    `Give ${option} a number and its unit: 90s, 15m, 2h or 30d.`,
  )
}
