/**
 * How much of an access token's life is left, as a bar.
 */

const width = 20

/** `█` for what is left, `░` for what is gone; both counted so that any time left shows. */
export function lifeBar(secondsLeft: number, lifetime: number): string {
  const fraction = lifetime > 0 ? Math.min(1, Math.max(0, secondsLeft / lifetime)) : 0
  const filled = Math.ceil(fraction * width)
  return '█'.repeat(filled) + '░'.repeat(width - filled)
}
