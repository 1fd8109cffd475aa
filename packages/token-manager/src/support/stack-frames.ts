/**
 * Where in the code something of the application's failed, without the error's own words, which may hold anything.
 */
import { isError } from './native-error.ts'

/**
 * The frames of an error's stack, one per line; empty if it has none, and for what is not an error.
 *
 * For warnings: a message or a property of the application's error may hold a secret, a place in its code does not.
 */
export function stackFrames(error: unknown): string {
  try {
    if (!isError(error)) return ''
    const lines = String(error.stack).replace(`${error.name}: ${error.message}`, '').split('\n')
    return lines
      .map((line) => line.trim())
      .filter((line) => /^at .+:\d+:\d+\)?$/u.test(line))
      .join('\n')
  } catch {
    // What its author put in the way of a look at it is no reason to end the process.
    return ''
  }
}
