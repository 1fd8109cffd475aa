/**
 * What is said where a callback of the application's fails: a warning of the process that names the place, and none of the
 * error's own words, which may hold anything.
 */

/** @param what - failed, such as `a listener of the event unsaved` */
export function warnOfFault(what: string, error: unknown): void {
  process.emitWarning(`${what} failed (${nameOf(error)}); the token manager goes on without it.`, {
    type: 'OwnerSsoWarning',
    code: 'OWNER_SSO_CALLBACK',
    ...placeOf(error),
  })
}

/** Calls back, and lets neither a throw nor a rejection come of it. */
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
  if (!(error instanceof Error)) return 'it threw something that is not an error'
  return /^[A-Za-z]{1,40}$/u.exec(error.constructor.name)?.[0] ?? 'Error'
}

/** Where in the code: the frames of the stack, which begins with the message. */
function placeOf(error: unknown): { readonly detail?: string } {
  try {
    if (!(error instanceof Error) || typeof error.stack !== 'string') return {}
    const frames = error.stack
      .replace(`${error.name}: ${error.message}`, '')
      .split('\n')
      .map((line) => line.trim())
    const detail = frames.filter((line) => /^at .+:\d+:\d+\)?$/u.test(line)).join('\n')
    return detail === '' ? {} : { detail }
  } catch {
    return {}
  }
}
