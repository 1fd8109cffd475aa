/**
 * Seconds in the words people use: "7 hours 42 minutes", "15 minutes", "20 seconds". Relative times are right in every time zone.
 */

const units = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const

/** Rounded down: nobody is promised more than there is. */
export function timeLeft(seconds: number): string {
  return seconds < 1 ? 'less than a second' : inWords(seconds, Math.floor)
}

/** Rounded up: waiting that long is enough. */
export function waitingTime(seconds: number): string {
  return inWords(Math.max(1, seconds), Math.ceil)
}

/** "3 minutes ago". @param at - seconds since the epoch */
export function ago(at: number, now: number): string {
  return now - at < 1 ? 'just now' : `${timeLeft(now - at)} ago`
}

/** At most two units that follow each other; seconds stand alone. */
function inWords(seconds: number, round: (value: number) => number): string {
  const smallest = seconds < 60 ? 1 : seconds < 86_400 ? 60 : 3600
  let rest = round(seconds / smallest) * smallest
  const words: string[] = []
  for (const [name, size] of units) {
    const count = Math.floor(rest / size)
    rest -= count * size
    if (count > 0) words.push(`${count} ${name}${count === 1 ? '' : 's'}`)
  }
  return words.join(' ')
}
