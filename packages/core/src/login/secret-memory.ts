/**
 * Remembers that something secret was seen, without keeping it: a bounded, ageing set of keyed hashes.
 *
 * Used for credentials that the service rejected (never post the same pair again) and for logins that were completed
 * (never use one twice).
 */
import { createHmac, randomBytes } from 'node:crypto'
import { recentEntries } from '@owner-sso/token-manager/support'

/** A set of secrets that can be looked up but not listed. */
export interface SecretMemory {
  remember(...secret: readonly string[]): void
  has(...secret: readonly string[]): boolean
}

/**
 * @param max - how many secrets are remembered; the one that was remembered first is forgotten first
 * @param lifetime - seconds after which one is forgotten
 */
export function createSecretMemory(max: number, lifetime: number): SecretMemory {
  const hash = createKeyedHash()
  /** By its hash: when a secret is forgotten, by `performance.now()`. */
  const seen = recentEntries<number>(max)
  return {
    remember: (...secret) => seen.set(hash(secret), performance.now() + lifetime * 1000),
    has: (...secret) => (seen.get(hash(secret)) ?? 0) > performance.now(),
  }
}

/** Names secrets by a hash whose key never leaves this closure: a dump of the names says nothing about what they stand for. */
export function createKeyedHash(): (secret: readonly string[]) => string {
  const key = randomBytes(32)
  return (secret) => createHmac('sha256', key).update(JSON.stringify(secret)).digest('base64')
}
