/**
 * Options, and what else somebody hands in: the names that there are, what each has to be, as a test and in words, and what came in
 * its place. A mistyped name would be taken in silence, and what was asked for would not happen. An option's sentence and its default
 * are the comment at its name in the type of the options; the READMEs' tables are made of that (`tools/options`).
 */

export function requireThat(condition: boolean, mistake: string): asserts condition {
  if (!condition) throw new TypeError(mistake)
}

/** What an option has to be. */
export interface OptionRow {
  /** Completes "timeout must be …". */
  readonly must: string
  readonly fits: (value: unknown) => boolean
  /** It can't be left out. */
  readonly isRequired?: boolean
  /** It is a figure and no secret: a wrong one is told. */
  readonly isFigure?: boolean
}

/** A row for every option: the compiler sees to it that none is missing. */
export type OptionRows<Options> = Readonly<Record<keyof Options, OptionRow>>

/** Longest time of a timer, in milliseconds: Node ends a longer one at once. */
export const longestTimer: number = 2 ** 31 - 1

const isNumber = (value: unknown, least: number, most: number): boolean =>
  typeof value === 'number' && Number.isFinite(value) && value >= least && value <= most

/** The kinds that most options are of. */
interface Kinds {
  /** Checked by what takes it. */
  readonly any: OptionRow
  readonly boolean: OptionRow
  readonly function: OptionRow
  readonly text: OptionRow
  readonly path: OptionRow
  readonly oneOf: (...choices: readonly string[]) => OptionRow
  /** @param unit - what is counted: `seconds` */
  readonly number: (unit: string, least?: number, most?: number) => OptionRow
  readonly whole: (least: number, most?: number) => OptionRow
  readonly milliseconds: (least: number) => OptionRow
  /** @param what - where it comes from: `what createSso() returns` */
  readonly having: (what: string, ...methods: readonly string[]) => OptionRow
  readonly required: (row: OptionRow) => OptionRow
}

/** What options are made of: a test of each kind, and its words. For adapters. */
export const kinds: Kinds = {
  any: { must: 'given', fits: () => true },
  boolean: { must: 'true or false', fits: (value) => typeof value === 'boolean' },
  function: { must: 'a function', fits: (value) => typeof value === 'function' },
  text: { must: 'text', fits: (value) => typeof value === 'string' },
  path: {
    must: 'a path, with the home folder in full',
    fits: (value) => typeof value === 'string' && value !== '' && !/^~(?:\/|$)/u.test(value),
  },
  oneOf: (...choices) => ({
    must: `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`,
    fits: (value) => choices.some((choice) => choice === value),
  }),
  number: (unit, least = 0, most = Number.MAX_VALUE) => ({
    must: `a number of ${unit}`,
    fits: (value) => isNumber(value, least, most),
    isFigure: true,
  }),
  whole: (least, most = Number.MAX_SAFE_INTEGER) => ({
    must: `a whole number${most === Number.MAX_SAFE_INTEGER ? `, ${least} or more` : ` from ${least} to ${most}`}`,
    fits: (value) => Number.isInteger(value) && isNumber(value, least, most),
    isFigure: true,
  }),
  milliseconds: (least) => kinds.whole(least, longestTimer),
  having: (what, ...methods) => ({
    must: what,
    fits: (value) => isObject(value) && methods.every((name) => typeof Reflect.get(value, name) === 'function'),
  }),
  required: (row) => ({ ...row, isRequired: true }),
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Holds what somebody gave against the rows. An option that is `undefined` counts as left out.
 *
 * @param call - what takes the options, as people write it: `createSso`
 * @param path - where they stand, if that is an option itself: `tls.`
 * @returns the options, without what somebody put on `Object.prototype`
 * @throws TypeError that names the option, and what was meant by a mistyped one
 */
export function checkOptions<Options extends object>(
  call: string,
  options: Options,
  rows: OptionRows<Options>,
  path = '',
): Options {
  const table: Readonly<Record<string, OptionRow>> = rows
  checkOptionNames<object>(call, options, table)
  const own: Options & Readonly<Record<string, unknown>> = Object.assign(Object.create(null), options)
  for (const [name, row] of Object.entries(table)) {
    const { fits, isRequired = false } = row
    const isFit = (value: unknown): boolean => (value === undefined ? !isRequired : fits(value))
    checkOption(`${path}${name}`, { ...row, fits: isFit }, own[name])
  }
  return own
}

/** The same for one value, such as an argument. @throws TypeError */
export function checkOption(name: string, { must, fits, isFigure = false }: OptionRow, value: unknown): void {
  const came = isFigure && typeof value === 'number' ? `; ${value} came` : whatCame(value)
  if (!fits(value)) throw new TypeError(`${name} must be ${must}${came}`)
}

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

/** Such as `; a promise came: await it`. Empty where the rest of the message says enough. */
export function whatCame(value: unknown): string {
  if (value === null) return '; null came'
  if (typeof value === 'string') {
    return /^\s*[[{]/u.test(value) ? '; JSON text came: write JSON.parse(text)' : '; text came'
  }
  if (typeof value === 'function') return '; a function came: call it'
  if (Array.isArray(value)) return '; a list came'
  if (isPromise(value)) return '; a promise came: await it'
  if (isStore(value)) return '; a token store came'
  return ['number', 'boolean', 'bigint'].includes(typeof value) ? `; a ${typeof value} came` : ''
}

/** By its shape: it may be of another realm, or a library's own. */
export const isPromise = (value: unknown): boolean => hasMethods(value, 'then')

export const isStore = (value: unknown): boolean => hasMethods(value, 'read', 'swap')

function hasMethods(value: unknown, ...names: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false
  return names.every((name) => typeof Reflect.get(value, name) === 'function')
}
