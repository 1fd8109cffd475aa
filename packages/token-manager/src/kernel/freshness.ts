/**
 * How long an access token is assumed to work, and how fresh it is: use it, refresh it in the background, or stop using it.
 */
import { hash } from 'node:crypto'
import type { AccountRecord, ReauthenticationRequired, SignedIn } from '../store/token-record.ts'
import { documentedLifetime, type TokenSet } from '../issuer/token-set.ts'

const longest = 24 * 60 * 60

/**
 * Seconds from `now` that a token set is assumed to work: a day at the most.
 *
 * @param justIssued - the response to a refresh can't have expired already, whatever the clock says; a sign-in may be of an old one
 */
export function assumedLifetime(tokens: TokenSet, now: number, justIssued: boolean): number {
  const claimed = tokens.expires_at - now
  if (justIssued && !(claimed > 0)) return documentedLifetime
  return Math.min(Math.max(claimed, 0), longest)
}

/** What to do with an access token of some age. `expiring` is late enough to replay a refresh whose response was lost. */
export type Freshness = 'fresh' | 'ageing' | 'expiring' | 'expired'

export interface Ages {
  readonly ageing: number
  readonly expiring: number
  readonly expired: number
}

/** @param refreshAfter - fraction of the life after which a background refresh is due, give or take the account's jitter */
export function agesOf(record: AccountRecord, refreshAfter: number): Ages {
  if (record.state === 'signed-out') return { ageing: 0, expiring: 0, expired: 0 }
  const life = record.lifetime * 1000
  const expired = workingAge(record)
  const expiring = life - Math.min(120_000, life / 10)
  const isLate = expectsRefusal(record)
  const ageing = isLate ? expiring : Math.min(life * refreshAfter * (0.9 + 0.2 * jitterOf(record.lineage)), expired)
  return { ageing, expiring, expired }
}

/** Milliseconds that an access token is used. Not to its last second: the response that brought it took time, and so does the request that carries it. */
export function workingAge({ lifetime }: { readonly lifetime: number }): number {
  return lifetime * 1000 - Math.min(10_000, lifetime * 50)
}

/** Refreshed tokens that the owner API refuses in a row, from which on it is expected to refuse the next as well. */
const expected = 2

/** A refresh would trade an access token that works for one that is refused: so it is made as late as is safe. */
export function expectsRefusal({ refusals }: SignedIn | ReauthenticationRequired): boolean {
  return refusals !== undefined && (refusals.fellBack === true || refusals.inARow >= expected)
}

/**
 * 0 to 1: where in the tenth before and after `refreshAfter` a token is refreshed. It spreads the accounts of a fleet, and is
 * the same in every process: were it rolled in each, the earliest of many would count, and many accounts have the same earliest.
 */
export function jitterOf(lineage: string): number {
  return Number.parseInt(hash('sha256', lineage, 'hex').slice(0, 8), 16) / 2 ** 32
}

export function freshnessAt(age: number, ages: Ages): Freshness {
  if (age < ages.ageing) return 'fresh'
  if (age < ages.expiring) return 'ageing'
  return age < ages.expired ? 'expiring' : 'expired'
}
