/**
 * A fault in words, for people who look at what struck; nothing of the headers and the body it answers with.
 */
import type { Fault } from './fault.ts'

/** `drop: after-commit, delay: 500`; undefined where there is no fault. */
export function faultWords(fault: Fault): string | undefined {
  const words = Object.entries(fault).flatMap(([name, value]: [string, unknown]) => {
    if (value === undefined || value === false) return []
    return typeof value === 'string' || typeof value === 'number' ? [wordsOf(name, value)] : [name]
  })
  return words.length > 0 ? words.join(', ') : undefined
}

function wordsOf(name: string, value: string | number): string {
  return name === 'body' ? name : `${name}: ${value}`
}
