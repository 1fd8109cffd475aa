/**
 * Times and places in words, as the page says them.
 */
import type { Place } from '../src/journal/exchange.ts'

export const placeNames: Readonly<Record<Place, string>> = {
  home: 'SSO service',
  regional: 'Other region',
  'owner-api': 'Owner API',
}

const timeFormat = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })
const momentFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'long' })

/** `20:35:12`, of milliseconds since the epoch. */
export function timeOfDay(milliseconds: number): string {
  return timeFormat.format(milliseconds)
}

/** `21 Nov 2026, 20:35:12 CET`, of milliseconds since the epoch. */
export function moment(milliseconds: number): string {
  return momentFormat.format(milliseconds)
}

/** `4 ms`, `1.2 s`, of milliseconds. */
export function elapsed(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`
}

export function counted(count: number, one: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : `${one}s`}`
}
