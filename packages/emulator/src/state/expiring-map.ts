/**
 * A map whose entries live for a while and whose oldest give way: it keeps the emulator's memory bounded.
 */
import type { Clock } from './clock.ts'

/**
 * `lifetime` in seconds of the emulator's clock, asked for each entry that is added; at `max` entries the oldest goes first.
 */
export function createExpiringMap<Value>(options: {
  readonly clock: Clock
  readonly lifetime: () => number
  readonly max: number
}) {
  const { clock, lifetime, max } = options
  /** When each ends, in seconds since the epoch by the emulator's clock. */
  const entries = new Map<string, { readonly value: Value; readonly expiresAt: number }>()

  /** Insertion order is the order of expiry, as long as nobody changes the lifetime: what can go is at the front. */
  function prune(): void {
    const now = clock.now()
    for (const [key, { expiresAt }] of entries) {
      if (expiresAt > now && entries.size < max) return
      entries.delete(key)
    }
  }

  function* alive(): IterableIterator<Value> {
    const now = clock.now()
    for (const { value, expiresAt } of entries.values()) if (expiresAt > now) yield value
  }

  return {
    get(key: string): Value | undefined {
      const entry = entries.get(key)
      return entry && entry.expiresAt > clock.now() ? entry.value : undefined
    },
    set(key: string, value: Value): void {
      entries.delete(key)
      prune()
      entries.set(key, { value, expiresAt: clock.now() + lifetime() })
    },
    delete: (key: string): unknown => entries.delete(key),
    alive,
  }
}
