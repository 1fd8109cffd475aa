/**
 * What is said where a callback of the application's fails: a warning of the process that names the place, without the
 * error's own words, which may hold anything.
 */
import { types } from 'node:util'

export function warnOfFault(what: string, error: unknown): void {
  const frames = stackFrames(error)
  process.emitWarning(`${what} failed (${nameOf(error)}); the token manager goes on without it.`, {
    type: 'OwnerSsoWarning',
    code: 'OWNER_SSO_CALLBACK',
    ...(frames !== '' && { detail: frames }),
  })
}

export function callSafely(what: string, callback: () => unknown): void {
  try {
    const result = callback()
    if (isThenable(result)) Promise.resolve(result).catch((error: unknown) => warnOfFault(what, error))
  } catch (error) {
    warnOfFault(what, error)
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value
}

function nameOf(error: unknown): string {
  try {
    if (!isError(error)) return 'it threw something that is not an error'
    return /^[A-Za-z]{1,40}$/u.exec(error.constructor.name)?.[0] ?? 'Error'
  } catch {
    return 'it threw something that can’t be looked at'
  }
}

export const isError = (value: unknown): value is Error => value instanceof Error || types.isNativeError(value)

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

/** The system's code of an error, such as `ENOENT`. By its shape: Node's own errors may be of another realm. */
export function systemCode(error: unknown): string | undefined {
  const isObject = typeof error === 'object' && error !== null
  return isObject && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
