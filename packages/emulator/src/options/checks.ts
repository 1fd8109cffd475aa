/**
 * Checks of values that come from outside: what is accepted, as a type and in words.
 */
import { checkNames } from '../support/known-names.ts'
import { Secret } from 'otpauth'

export interface Check<Value = unknown> {
  /** Completes "Option x must be …". */
  readonly expected: string
  readonly accepts: Accepts<Value>
  /** The check of each field, where the value is an object. */
  readonly fields?: Readonly<Record<string, Check>>
  /** All that is accepted, where that is a short list. */
  readonly choices?: readonly unknown[]
}

type Accepts<Value> = (value: unknown) => value is Value

/** A check for each field of `Shape`. */
export type Checks<Shape> = { readonly [Name in keyof Shape]-?: Check<Exclude<Shape[Name], undefined>> }

/** The type of an object whose fields have these checks. */
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
    throw new TypeError(
      prefix === '' ? `The ${kind}s must be an object` : `${Kind} ${prefix.slice(0, -1)} must be an object`,
    )
  }
  checkNames(kind, prefix, values, Object.keys(checks))
  for (const [name, value] of Object.entries(values)) {
    const check = checks[name]
    if (check === undefined || value === undefined) continue
    if (check.fields && isRecord(value)) checkNames(kind, `${prefix}${name}.`, value, Object.keys(check.fields))
    if (!check.accepts(value)) {
      throw new TypeError(`${Kind} ${prefix}${name} must be ${check.expected}`)
    }
  }
}

export function oneOf<const Choices extends readonly (string | number | boolean)[]>(
  ...choices: Choices
): Check<Choices[number]> {
  const names = choices.map((choice) => (typeof choice === 'string' ? `'${choice}'` : String(choice)))
  return {
    expected: names.join(' or '),
    accepts: (value): value is Choices[number] => choices.some((choice) => choice === value),
    choices,
  }
}

export function boolean(): Check<boolean> {
  return oneOf(true, false)
}

export function port(): Check<number> {
  return whole(0, 65_535, 'a port number (0 for any free one)')
}

export function whole(from: number, to: number, expected = `a whole number, ${from} to ${to}`): Check<number> {
  return {
    expected,
    accepts: (value): value is number => Number.isInteger(value) && Number(value) >= from && Number(value) <= to,
  }
}

export function seconds(): Check<number> {
  return {
    expected: 'a number of seconds',
    accepts: (value): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0,
  }
}

export function milliseconds(): Check<number> {
  return { ...seconds(), expected: 'a number of milliseconds' }
}

export function positive(): Check<number> {
  return { expected: 'a positive number', accepts: (value): value is number => typeof value === 'number' && value > 0 }
}

export function text(expected = 'a string'): Check<string> {
  return { expected, accepts: (value): value is string => typeof value === 'string' && value !== '' }
}

export function base32(): Check<string> {
  return { expected: 'a base32 secret', accepts: isBase32 }
}

export function scalar(): Check<number | string> {
  return {
    expected: 'a number or a string',
    accepts: (value): value is number | string => typeof value === 'number' || typeof value === 'string',
  }
}

/** @param names Those that there may be; left out: any. */
export function strings(names?: readonly string[]): Check<Readonly<Record<string, string>>> {
  return {
    expected: names ? `an object of strings for ${names.join(', ')}` : 'an object of strings',
    accepts: (value): value is Readonly<Record<string, string>> =>
      isRecord(value) &&
      Object.entries(value).every(([name, item]) => typeof item === 'string' && names?.includes(name) !== false),
  }
}

/** @param what The items, as the message calls them */
export function arrayOf<Item>(what: string, accepts: Accepts<Item>): Check<readonly Item[]> {
  return {
    expected: `an array of ${what}`,
    accepts: (value): value is readonly Item[] => Array.isArray(value) && value.every(accepts),
  }
}

export function shape<const Fields extends Readonly<Record<string, Check>>>(fields: Fields): Check<ShapeOf<Fields>> {
  const known = Object.entries(fields).map(([name, { expected }]) => `${name}: ${expected}`)
  return {
    expected: `an object of { ${known.join(', ')} }`,
    fields,
    accepts: (value): value is ShapeOf<Fields> =>
      isRecord(value) &&
      Object.entries(value).every(
        ([name, item]) => Object.hasOwn(fields, name) && (item === undefined || fields[name]?.accepts(item) === true),
      ),
  }
}

export function orFalse<Value>({ fields, expected, accepts }: Check<Value>): Check<Value | false> {
  return {
    ...(fields && { fields }),
    expected: `false or ${expected}`,
    accepts: (value): value is Value | false => value === false || accepts(value),
  }
}

export function orNull<Value>({ fields, expected, accepts }: Check<Value>): Check<Value | null> {
  return {
    ...(fields && { fields }),
    expected: `${expected} or null`,
    accepts: (value): value is Value | null => value === null || accepts(value),
  }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isUrl(value: unknown): value is string {
  return typeof value === 'string' && URL.canParse(value)
}

function isBase32(value: unknown): value is string {
  if (typeof value !== 'string' || value === '') return false
  try {
    return Secret.fromBase32(value).bytes.length > 0
  } catch {
    return false
  }
}
