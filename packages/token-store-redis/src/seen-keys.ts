/**
 * The keys that a listing has come across: a SCAN may name one twice. Of each it keeps eight bytes of a hash, so that a listing
 * of a million accounts takes some megabytes.
 */
import { createHash } from 'node:crypto'

export interface SeenKeys {
  /** Adds a key; false where it was there before. */
  readonly add: (key: string) => boolean
}

export function seenKeys(): SeenKeys {
  // Open addressing: a hash stands at the first free place from its own on, and half of all places stay free. 0 is free.
  let places = new BigUint64Array(1024)
  let count = 0

  function placeOf(hash: bigint): number {
    const last = places.length - 1
    let place = Number(hash & BigInt(last))
    while (places[place] !== 0n && places[place] !== hash) place = (place + 1) & last
    return place
  }

  function grow(): void {
    const before = places
    places = new BigUint64Array(before.length * 2)
    for (const hash of before) if (hash !== 0n) places[placeOf(hash)] = hash
  }

  return {
    add(key) {
      const hash = createHash('sha256').update(key).digest().readBigUInt64LE() || 1n
      const place = placeOf(hash)
      if (places[place] === hash) return false
      places[place] = hash
      count += 1
      if (count * 2 > places.length) grow()
      return true
    },
  }
}
