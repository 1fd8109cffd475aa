/**
 * Blocks of the firewall: once a challenge page was seen, every call to that host fails at once, without a request, until the
 * wait is over (interface document, "What the service does" 5 and "Limits": blocks last as long as requests go on).
 */
import { FirewallChallengeError, type SsoStep } from '@owner-sso/token-manager'
import { elapsed, type Instant, instantOf, retryAfterSeconds, type Runtime } from '@owner-sso/token-manager/support'

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

const secondsAfter = ({ wall }: Instant, milliseconds: number): number => Math.ceil((wall + milliseconds) / 1000)
