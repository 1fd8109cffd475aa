/**
 * Numbers in short words: `7 h 42 min`, `20 s`, `1 account`; and how sure a sentence is.
 */
import type { Why } from '@owner-sso/core'

/** Seconds, in two units at most, rounded down: nobody is promised more than there is. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds))
  if (whole < 60) return `${whole} s`
  const minutes = Math.floor(whole / 60)
  if (minutes < 60) return `${minutes} min`
  const rest = minutes % 60
  return rest === 0 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 60)} h ${rest} min`
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

export function likely({ sure, sentence }: Why): string {
  return sure ? sentence : `Likely: ${sentence}`
}
