/**
 * The options of a call, one row each: what every one has to be, as a test and in words. Its sentence and its default are the
 * comment at its name in the type of the options; the READMEs' tables are made of that (`tools/options`).
 */
import { checkOptionNames } from './known-options.ts'
import { whatCame } from './what-came.ts'

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
  /** For a timer. */
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

function isObject(value: unknown): value is object {
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
