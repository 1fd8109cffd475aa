/**
 * How long an access token is believed to work, and what that means for whoever holds it: use it, refresh it beside, or
 * not use it any more.
 */
import type { AccountRecord } from '../token-record.ts'
import type { TokenSet } from '../token-set.ts'

const eightHours = 8 * 60 * 60
const longest = 24 * 60 * 60
/** Of a token just refreshed: whatever a service says, it is asked twice an hour at most, the earliest jitter included. */
const shortest = 45 * 60

/**
 * Seconds from `now` that a token set is believed to work. `expires_at` is clamped, because it compares two clocks: a jump
 * of ours by a day must not turn every fresh token into an expired one, and so into a storm of refreshes.
 *
 * @param justIssued - the answer of a refresh, which cannot have expired already; a sign-in may be of an old token set
 * @param floor - whether implausibly short lives count as 45 minutes; tests turn it off with `minRefreshInterval: 0`
 */
export function believedLifetime(tokens: TokenSet, now: number, justIssued: boolean, floor: boolean): number {
  const claimed = tokens.expires_at - now
  if (!justIssued) return Math.min(Math.max(claimed, 0), longest)
  if (!(claimed > 0)) return eightHours
  return Math.min(Math.max(claimed, floor ? shortest : 0), longest)
}

/** What to do with an access token of some age. `expiring` is late enough to replay a refresh whose answer was lost. */
export type Standing = 'fresh' | 'ageing' | 'expiring' | 'expired'

/** The ages, in milliseconds, at which a token's standing changes. */
export interface Ages {
  readonly ageing: number
  readonly expiring: number
  readonly expired: number
}

/**
 * @param refreshAfter - fraction of the life after which a background refresh is due
 * @param random - 0 to 1; spreads the refreshes of a fleet over a tenth of that age, before and after it
 */
export function agesOf(record: AccountRecord, refreshAfter: number, random: number): Ages {
  const life = record.state === 'signed-out' ? 0 : record.lifetime * 1000
  // Not to the last second: the request that carries the token takes time too.
  const expired = life - Math.min(10_000, life / 100)
  const jittered = refreshAfter * (0.9 + 0.2 * random)
  return {
    ageing: Math.min(life * jittered, expired),
    expiring: life - Math.min(120_000, life / 20),
    expired,
  }
}

export function standingAt(age: number, ages: Ages): Standing {
  if (age < ages.ageing) return 'fresh'
  if (age < ages.expiring) return 'ageing'
  return age < ages.expired ? 'expiring' : 'expired'
}
