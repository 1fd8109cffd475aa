/** Chance that only a seed decides (xorshift): numbers of at least 0, less than 1. */
export function chance(seed: number): () => number {
  let state = seed * 2_654_435_761
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}
