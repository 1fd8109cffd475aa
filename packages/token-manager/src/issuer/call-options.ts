/**
 * The options of a call, with its `signal`. A signal in another place would have no effect, and its caller would wait longer than
 * expected.
 */

import { checkOptions, kinds, type OptionRow } from '../support/options.ts'

/** What every call takes in addition to its own arguments. */
export interface CallOptions {
  /** Ends the call with `ERR_SSO_TIMEOUT`. */
  readonly signal?: AbortSignal | undefined
}

/**
 * The options that a call goes by.
 *
 * @param call how the call is written with a signal, for the message: `login(credentials, { signal })`
 * @param before the argument before them, where a signal ends up by mistake
 * @param rows what they may be, where that is more than the signal
 * @throws TypeError for a signal that stands in the wrong place, for a `signal` that is not one, and for an unknown option
 */
export function parseCallOptions<Options extends CallOptions>(
  call: string,
  options: Options | undefined,
  before?: object,
  rows: Readonly<Record<string, OptionRow>> = { signal: kinds.any },
): Options | CallOptions {
  if (isSignal(options) || (typeof before === 'object' && before !== null && 'signal' in before)) {
    throw new TypeError(`signal is in the wrong place: write ${call}`)
  }
  const [name = call] = call.split('(')
  if (options !== undefined && options !== null) checkOptions<object>(name, options, rows)
  const signal: unknown = options?.signal
  if (signal !== undefined && !isSignal(signal)) throw new TypeError('signal must be an AbortSignal')
  return options ?? {}
}

/** By its shape: a signal may come from another realm, or from a library's own controller. */
function isSignal(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'aborted' in value && 'addEventListener' in value
}
