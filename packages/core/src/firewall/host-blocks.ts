/**
 * Blocks of the firewall: once a challenge page was seen, every call to that host fails at once, without a request, until the
 * wait is over (interface document, "What the service does" 5 and "Limits": blocks last as long as requests go on).
 */
import { FirewallChallengeError, type SsoStep } from '@owner-sso/token-manager'
import { elapsed, type Instant, instantOf, type Runtime } from '@owner-sso/token-manager/support'

const leastWait = 60
const longestWait = 24 * 60 * 60

/** The hosts (`name:port`) that are blocked for this process. */
export interface HostBlocks {
  /** @throws FirewallChallengeError while the host is blocked; nothing was sent */
  check(host: string, step: SsoStep): void
  /** Blocks the host from now on. Returns the error to throw, which says until when. */
  block(host: string, retryAfter: string | undefined, step: SsoStep, status: number): FirewallChallengeError
}

interface Block {
  readonly since: Instant
  /** Milliseconds. */
  readonly wait: number
}

/**
 * @param cooldown - seconds that a host is left alone where its response has no usable `Retry-After`
 * @param clocks - a block ends by the faster of them, so that a clock that is put back makes no wait longer
 */
export function createHostBlocks(cooldown: number, clocks: Pick<Runtime, 'wallClock' | 'monotonicClock'>): HostBlocks {
  const blocks = new Map<string, Block>()
  /** Milliseconds that a host is still left alone. */
  const remainingWait = (host: string, now: Instant): number => {
    const block = blocks.get(host)
    return block === undefined ? 0 : block.wait - elapsed(block.since, now)
  }
  return {
    check(host, step) {
      const now = instantOf(clocks)
      const left = remainingWait(host, now)
      if (left > 0) throw new FirewallChallengeError(secondsAfter(now, left), { step, requestSent: false })
      blocks.delete(host)
    },
    block(host, retryAfter, step, status) {
      const now = instantOf(clocks)
      const newWait = 1000 * (retryAfterSeconds(retryAfter, now.wall / 1000) ?? cooldown)
      // Never shorter than the wait that another request was given.
      const wait = Math.max(newWait, remainingWait(host, now))
      blocks.set(host, { since: now, wait })
      return new FirewallChallengeError(secondsAfter(now, wait), { step, status })
    },
  }
}

/** Seconds since the epoch, so many milliseconds later. */
const secondsAfter = ({ wall }: Instant, milliseconds: number): number => Math.ceil((wall + milliseconds) / 1000)

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
