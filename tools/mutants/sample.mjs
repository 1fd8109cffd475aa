/** Random order that is the same for the same seed. */

/**
 * @template T
 * @param {readonly T[]} items
 * @param {number} seed
 * @returns {T[]} all of them, shuffled (Fisher and Yates)
 */
export function shuffled(items, seed) {
  const random = randomNumbers(seed)
  const order = [...items]
  for (let last = order.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1))
    ;[order[last], order[other]] = [order[other], order[last]]
  }
  return order
}

/**
 * Numbers from 0 to below 1 (Mulberry32).
 *
 * @param {number} seed
 */
function randomNumbers(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
