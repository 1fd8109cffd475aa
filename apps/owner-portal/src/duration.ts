/**
 * Seconds in the words people use: "7 hours 42 minutes", "15 minutes", "20 seconds".
 */

/** At most two units; rounded up, so that waiting that long is enough. */
export function duration(seconds: number): string {
  if (seconds < 60) return counted(Math.max(1, Math.ceil(seconds)), 'second')
  const minutes = Math.ceil(seconds / 60)
  if (minutes < 60) return counted(minutes, 'minute')
  const hours = counted(Math.floor(minutes / 60), 'hour')
  return minutes % 60 === 0 ? hours : `${hours} ${counted(minutes % 60, 'minute')}`
}

/** The same, rounded down to whole minutes: nobody is promised more than there is. */
export function timeLeft(seconds: number): string {
  return duration(seconds < 60 ? Math.floor(seconds) : seconds - (seconds % 60))
}

function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
