/**
 * The firewall breaker: once a challenge page was seen, every call to that host fails fast, without a request, until the
 * cool-down has passed (interface document, "What the service does" 5 and "Limits": blocks last as long as requests go on).
 */
import { FirewallChallengeError, type SsoStep } from '../errors.ts'

const leastWait = 60
const longestWait = 24 * 60 * 60

/** What is known about blocks, per host (`name:port`). */
export interface HostBreaker {
  /** @throws FirewallChallengeError while the host is blocked; nothing was sent */
  check(host: string, step: SsoStep): void
  /** Blocks the host from now on; the error to throw says until when. */
  open(host: string, retryAfter: string | undefined, step: SsoStep, status: number): FirewallChallengeError
}

/**
 * @param cooldown - seconds that a host is left alone where its response has no usable `Retry-After`
 * @param now - seconds since the epoch
 */
export function createHostBreaker(cooldown: number, now: () => number): HostBreaker {
  const nextAttemptAt = new Map<string, number>()
  return {
    check(host, step) {
      const until = nextAttemptAt.get(host)
      if (until === undefined) return
      if (now() < until) throw new FirewallChallengeError(until, { step, requestSent: false })
      nextAttemptAt.delete(host)
    },
    open(host, retryAfter, step, status) {
      const asked = Math.ceil(now() + (retryAfterSeconds(retryAfter, now()) ?? cooldown))
      // Another request was told of a longer wait.
      const until = Math.max(asked, nextAttemptAt.get(host) ?? 0)
      nextAttemptAt.set(host, until)
      return new FirewallChallengeError(until, { step, status })
    },
  }
}

/** `Retry-After` in seconds, from seconds or a date (RFC 9110 section 10.2.3), kept between a minute and a day. */
function retryAfterSeconds(header: string | undefined, now: number): number | undefined {
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
