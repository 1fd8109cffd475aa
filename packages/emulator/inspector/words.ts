/**
 * Times and places in words, as the page says them.
 */
import type { Place } from '../src/journal/exchange.ts'

export const placeNames: Readonly<Record<Place, string>> = {
  home: 'SSO service',
  regional: 'Other region',
  'owner-api': 'Owner API',
}

const time = { hour: '2-digit', minute: '2-digit', second: '2-digit' } as const
const timeFormat = new Intl.DateTimeFormat('en-GB', time)
const momentFormat = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  ...time,
  timeZoneName: 'short',
})

/** `20:35:12`, of milliseconds since the epoch. */
export function timeOfDay(milliseconds: number): string {
  return timeFormat.format(milliseconds)
}

/** `21 Nov 2026, 20:35:12 CET`, of seconds since the epoch. */
export function moment(seconds: number): string {
  return momentFormat.format(seconds * 1000)
}

/** `4:05`, `7 h 59 min`, of seconds. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds))
  if (whole >= 86_400) return `${Math.floor(whole / 86_400)} d ${Math.floor((whole % 86_400) / 3600)} h`
  if (whole >= 3600) return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`
}

/** `4 ms`, `1.2 s`, of milliseconds. */
export function elapsed(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}
