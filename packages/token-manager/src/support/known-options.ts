/**
 * Names that somebody typed, held against those that there are: of options, of events. A mistyped one would be taken in silence,
 * and what was asked for would not happen.
 */

import { isPromise, isStore, whatCame } from './what-came.ts'

/** The names of all options, as `{ path: true, encryptionKey: true }`: the compiler sees to it that none is missing. */
export type OptionNames<Options> = Readonly<Record<keyof Options, true>>

/**
 * Checks what a call was given. An option that is `undefined` counts as left out.
 *
 * @param call - what takes the options, as people write it: `ownerFetch`, or the option that they are in: `requestBudget`
 * @throws TypeError for something that is no object, and for a name that is none of `names`
 */
export function checkOptionNames<Options extends object>(
  call: string,
  options: Options,
  names: OptionNames<Options>,
): void {
  const isOptions = typeof options === 'object' && options !== null && !Array.isArray(options)
  if (!isOptions || isPromise(options) || isStore(options)) {
    throw new TypeError(`${call} takes an object with ${Object.keys(names).join(', ')}${whatCame(options)}`)
  }
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined) checkName(name, `an option of ${call}`, names)
  }
}

/** @param kind - what such names are, with its article: `an event of the token manager`. @throws TypeError for another name */
export function checkName(given: unknown, kind: string, names: Readonly<Record<string, true>>): void {
  const name = String(given)
  if (Object.hasOwn(names, name)) return
  const known = Object.keys(names)
  const meant = nearestName(name, known)
  const shown = /^[\w$-]{1,40}$/u.test(name) ? name : JSON.stringify(name.slice(0, 40))
  throw new TypeError(
    `${shown} is not ${kind}.${meant === undefined ? '' : ` Did you mean ${meant}?`} There are ${known.join(', ')}`,
  )
}

/** The name that was meant, most likely: other capitals, or a few letters missing, added, changed or swapped. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const typed = name.toLowerCase()
  for (const changes of [0, 1, 2, 3]) {
    const near = known.find((one) => one.length >= 3 * changes && isWithin(changes, typed, one.toLowerCase()))
    if (near !== undefined) return near
  }
  return undefined
}

/** Whether so many changes of a letter make the one of the other. */
function isWithin(changes: number, one: string, other: string): boolean {
  if (one === other || changes === 0) return one === other
  let same = 0
  while (one[same] === other[same]) same += 1
  const [left, right] = [one.slice(same), other.slice(same)]
  const isSwapped = left[0] === right[1] && left[1] === right[0]
  return (
    isWithin(changes - 1, left.slice(1), right) ||
    isWithin(changes - 1, left, right.slice(1)) ||
    isWithin(changes - 1, left.slice(1), right.slice(1)) ||
    (isSwapped && isWithin(changes - 1, left.slice(2), right.slice(2)))
  )
}
