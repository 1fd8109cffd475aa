/**
 * Checks of values that come from outside: what is accepted, and the words that say so.
 */
import { checkNames } from '@owner-sso/recorder'
import { Secret } from 'otpauth'

export interface Check {
  /** Completes "Option x must be …". */
  readonly expected: string
  readonly accepts: (value: unknown) => boolean
  /** What is accepted for each field, where it is an object of them. */
  readonly fields?: Readonly<Record<string, Check>>
  /** All that is accepted, where that is a short list. */
  readonly choices?: readonly unknown[]
}

/** A check for each field of `Shape`. */
export type Checks<Shape> = Readonly<Record<keyof Shape, Check>>

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

export function oneOf(...choices: readonly unknown[]): Check {
  const names = choices.map((choice) => (typeof choice === 'string' ? `'${choice}'` : String(choice)))
  return { expected: names.join(' or '), accepts: (value) => choices.includes(value), choices }
}

export function boolean(): Check {
  return oneOf(true, false)
}

export function port(): Check {
  return {
    expected: 'a port number (0 for any free one)',
    accepts: (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65_535,
  }
}

export function seconds(): Check {
  return {
    expected: 'a number of seconds',
    accepts: (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0,
  }
}

export function milliseconds(): Check {
  return { ...seconds(), expected: 'a number of milliseconds' }
}

export function positive(): Check {
  return { expected: 'a positive number', accepts: (value) => typeof value === 'number' && value > 0 }
}

export function text(): Check {
  return { expected: 'a string', accepts: (value) => typeof value === 'string' && value !== '' }
}

export function base32(): Check {
  return { expected: 'a base32 secret', accepts: isBase32 }
}

export function strings(): Check {
  return {
    expected: 'an object of strings',
    accepts: (value) => isRecord(value) && Object.values(value).every((item) => typeof item === 'string'),
  }
}

export function shape(checks: Readonly<Record<string, Check>>): Check {
  const known = Object.entries(checks).map(([name, { expected }]) => `${name}: ${expected}`)
  return {
    expected: `an object of { ${known.join(', ')} }`,
    fields: checks,
    accepts: (value) =>
      isRecord(value) &&
      Object.entries(value).every(
        ([name, item]) => Object.hasOwn(checks, name) && (item === undefined || checks[name]?.accepts(item) === true),
      ),
  }
}

export function orFalse(check: Check): Check {
  return {
    ...fieldsOf(check),
    expected: `false or ${check.expected}`,
    accepts: (value) => value === false || check.accepts(value),
  }
}

export function orNull(check: Check): Check {
  return {
    ...fieldsOf(check),
    expected: `${check.expected} or null`,
    accepts: (value) => value === null || check.accepts(value),
  }
}

function fieldsOf({ fields }: Check): Pick<Check, 'fields'> {
  return fields === undefined ? {} : { fields }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isArrayOf(value: unknown, accepts: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(accepts)
}

export function isScalar(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'string'
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
