const leastWait = 60
const longestWait = 24 * 60 * 60

/** `Retry-After` (RFC 9110 section 10.2.3) in seconds, from seconds or a date, kept between a minute and a day; nothing where it says neither. @param now - seconds since the epoch */
export function retryAfterSeconds(header: string | undefined, now: number): number | undefined {
  const value = header?.trim() ?? ''
  const seconds = /^\d{1,15}$/u.test(value) ? Number(value) : httpDate(value) - now
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, leastWait), longestWait)
}

/** Seconds since the epoch of an HTTP date; `NaN` if it is not one. `Date.parse` alone accepts almost anything. */
function httpDate(value: string): number {
  return /^[A-Z][a-z]{2,8}, \d{2}[ -][A-Z][a-z]{2}[ -]\d{2,4} \d{2}:\d{2}:\d{2} GMT$/u.test(value)
    ? Date.parse(value) / 1000
    : Number.NaN
}
