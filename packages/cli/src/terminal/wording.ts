/**
 * Numbers and times in short words: `7 h 42 min`, `20 s`, `1 account`, `14:10 GMT+1`; and how sure a sentence is.
 */
import type { Why } from '@owner-sso/core'

/** Seconds, in two units at most, rounded down: nobody is promised more than there is. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds))
  if (whole < 60) return `${whole} s`
  const minutes = Math.floor(whole / 60)
  if (minutes < 60) return `${minutes} min`
  const rest = minutes % 60
  return rest === 0 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 60)} h ${rest} min`
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

export function likely({ sure, sentence }: Why): string {
  return sure ? sentence : `Likely: ${sentence}`
}

/**
 * A time for people, by this machine's clock and zone, with its day in front where that is not today: `2030-01-31 14:10 GMT+1`.
 * Programs get seconds since the epoch, or ISO 8601 in UTC.
 *
 * @param at - seconds since the epoch
 */
export function localTime(at: number): string {
  const date = new Date(at * 1000)
  const day = dayOf(date)
  const time = [date.getHours(), date.getMinutes()].map(twoDigits).join(':')
  const zone = new Intl.DateTimeFormat('en-US', { timeZoneName: 'short' })
    .formatToParts(date)
    .find(({ type }) => type === 'timeZoneName')
  return [...(day === dayOf(new Date()) ? [] : [day]), time, zone?.value ?? ''].join(' ')
}

function dayOf(date: Date): string {
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(twoDigits).join('-')
}

const twoDigits = (value: number): string => String(value).padStart(2, '0')
