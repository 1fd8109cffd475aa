/**
 * Checks of values that come from outside: what is accepted, as a type and in words.
 */
import { Secret } from 'otpauth'
import { checkNames } from '../support/known-names.ts'

export interface Check<Value = unknown> {
  /** Completes "Option x must be …". */
  readonly expected: string
  readonly accepts: Accepts<Value>
  readonly fields?: Readonly<Record<string, Check>>
  /** All that is accepted, where that is a short list. */
  readonly choices?: readonly unknown[]
}

type Accepts<Value> = (value: unknown) => value is Value

export type Checks<Shape> = { readonly [Name in keyof Shape]-?: Check<Exclude<Shape[Name], undefined>> }

type ShapeOf<Fields> = { readonly [Name in keyof Fields]?: Fields[Name] extends Check<infer Value> ? Value : never }

/**
 * @param kind What the fields are, as the message calls them: `option`, `field`
 * @param prefix Path to the fields, with its dot
 * @throws {TypeError} A field is unknown or wrong; the message names it.
 */
export function checkEach(
  kind: string,
  prefix: string,
  values: unknown,
  checks: Readonly<Record<string, Check>>,
): void {
  const Kind = `${kind.charAt(0).toUpperCase()}${kind.slice(1)}`
  if (!isRecord(values)) {
    const what = prefix === '' ? `The ${kind}s` : `${Kind} ${prefix.slice(0, -1)}`
    throw new TypeError(`${what} must be an object`)
  }
  checkNames(kind, prefix, values, Object.keys(checks))
  for (const [name, value] of Object.entries(values)) {
    const check = checks[name]
    if (check === undefined || value === undefined) continue
    if (check.fields && isRecord(value)) checkNames(kind, `${prefix}${name}.`, value, Object.keys(check.fields))
    if (!check.accepts(value)) throw new TypeError(`${Kind} ${prefix}${name} must be ${check.expected}`)
  }
}

function checkFor<Value>(expected: string, accepts: (value: unknown) => boolean): Check<Value> {
  return { expected, accepts: (value): value is Value => accepts(value) }
}

export function oneOf<const Choices extends readonly (string | number | boolean)[]>(
  ...choices: Choices
): Check<Choices[number]> {
  const names = choices.map((choice) => (typeof choice === 'string' ? `'${choice}'` : String(choice)))
  return { ...checkFor(names.join(' or '), (value) => choices.some((choice) => choice === value)), choices }
}

export const boolean = (): Check<boolean> => oneOf(true, false)
export const port = (): Check<number> => whole(0, 65_535, 'a port number (0 for any free one)')
export const whole = (from: number, to: number, expected = `a whole number, ${from} to ${to}`): Check<number> =>
  checkFor(expected, (value) => Number.isInteger(value) && Number(value) >= from && Number(value) <= to)
export const seconds = (expected = 'a number of seconds'): Check<number> =>
  checkFor(expected, (value) => Number.isFinite(value) && Number(value) >= 0)
export const positive = (): Check<number> =>
  checkFor('a positive number', (value) => typeof value === 'number' && value > 0)
export const text = (): Check<string> => checkFor('a string', (value) => typeof value === 'string' && value !== '')
export const base32 = (): Check<string> => checkFor('a base32 secret', isBase32)
export const scalar = (): Check<number | string> =>
  checkFor('a number or a string', (value) => typeof value === 'number' || typeof value === 'string')

/** @param names Those that there may be; left out: any. */
export function strings(names?: readonly string[]): Check<Readonly<Record<string, string>>> {
  return checkFor(
    names ? `an object of strings for ${names.join(', ')}` : 'an object of strings',
    (value) =>
      isRecord(value) &&
      Object.entries(value).every(([name, item]) => typeof item === 'string' && names?.includes(name) !== false),
  )
}

export function arrayOf<Item>(what: string, accepts: (item: unknown) => boolean): Check<readonly Item[]> {
  return checkFor(`an array of ${what}`, (value) => Array.isArray(value) && value.every(accepts))
}

export function shape<const Fields extends Readonly<Record<string, Check>>>(fields: Fields): Check<ShapeOf<Fields>> {
  const known = Object.entries(fields).map(([name, { expected }]) => `${name}: ${expected}`)
  const fits = ([name, item]: [string, unknown]): boolean =>
    Object.hasOwn(fields, name) && (item === undefined || fields[name]?.accepts(item) === true)
  const isShape = (value: unknown): boolean => isRecord(value) && Object.entries(value).every(fits)
  return { ...checkFor(`an object of { ${known.join(', ')} }`, isShape), fields }
}

export function orFalse<Value>(of: Check<Value>): Check<Value | false> {
  const either = checkFor<Value | false>(`false or ${of.expected}`, (value) => value === false || of.accepts(value))
  return { ...either, ...(of.fields && { fields: of.fields }) }
}

export function orNull<Value>(of: Check<Value>): Check<Value | null> {
  const either = checkFor<Value | null>(`${of.expected} or null`, (value) => value === null || of.accepts(value))
  return { ...either, ...(of.fields && { fields: of.fields }) }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isUrl(value: unknown): boolean {
  return typeof value === 'string' && URL.canParse(value)
}

function isBase32(value: unknown): boolean {
  if (typeof value !== 'string' || value === '') return false
  try {
    return Secret.fromBase32(value).bytes.length > 0
  } catch {
    return false
  }
}
