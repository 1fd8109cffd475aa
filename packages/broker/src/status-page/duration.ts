/**
 * Seconds in the words people use. Relative times are right in every time zone.
 */

const units = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const

/** "7 hours 42 minutes", "15 minutes", "20 seconds": at most two units that follow each other, rounded down. */
export function duration(seconds: number): string {
  const whole = Math.floor(seconds)
  const [largest, next] = units.filter(([, size]) => whole >= size)
  if (largest === undefined) return 'less than a second'
  const [name, size] = largest
  const rest = next && next[0] !== 'second' ? Math.floor((whole % size) / next[1]) : 0
  const words = counted(Math.floor(whole / size), name)
  return next && rest > 0 ? `${words} ${counted(rest, next[0])}` : words
}

/** "3 minutes ago". @param at - seconds since the epoch */
export function ago(at: number, now: number): string {
  return now - at < 1 ? 'just now' : `${duration(now - at)} ago`
}

function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
