/**
 * A port to listen on.
 */
import { usageError } from '../failure/command-error.ts'

/** @throws CommandError for what is no port */
export function portOf(text: string): number {
  if (/^\d{1,5}$/u.test(text) && Number(text) <= 65_535) return Number(text)
  throw usageError(`${JSON.stringify(text)} is not a port.`, 'Give --port a number from 0 (any free one) to 65535.')
}
