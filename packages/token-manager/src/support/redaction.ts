/**
 * Objects that must be stored but never shown: their secrets are there to be read by name, and nothing that goes through
 * an object's fields finds them.
 *
 * The one way out is `toJSON`: what is stored is whole. So is whatever else goes by it, `%j` of `util.format` for one.
 */
import type { inspect } from 'node:util'

export interface SecretiveKind {
  readonly harmless: ReadonlySet<string>
  /** How `util.inspect` prints one, and so `console.log`. */
  readonly print: (this: object, depth: number, options: object, print: typeof inspect) => string
}

/**
 * @param name - what a printed object calls itself
 * @param fields - those that may be shown; a field added later is hidden until it is listed here
 */
export function secretiveKind(name: string, fields: readonly string[]): SecretiveKind {
  const harmless = new Set(fields)
  return {
    harmless,
    print(_depth, options, print) {
      const visible = Object.entries(wholeOf(this)).map(([key, value]): [string, unknown] => [
        key,
        harmless.has(key) ? value : '[redacted]',
      ])
      // customInspect false would print the tokens of an object nested in it; the default is all that is needed here.
      return `${name} ${print(Object.fromEntries(visible), { ...options, customInspect: true })}`
    },
  }
}

/** A copy of `data` whose fields are all there, but of which only the harmless ones can be enumerated. */
export function redacted<T extends object>(data: T, kind: SecretiveKind): T
export function redacted(data: object, { harmless, print }: SecretiveKind): object {
  const copy: Record<string, unknown> = {}
  for (const name of fieldsOf(data)) {
    const value: unknown = Reflect.get(data, name)
    if (harmless.has(name)) copy[name] = value
    // What is defined can not be enumerated. Afterwards it takes twice as long, and this happens whenever a record is read.
    else Object.defineProperty(copy, name, { value, writable: true, configurable: true })
  }
  Object.defineProperty(copy, wayOut, { value: toJson })
  return Object.defineProperty(copy, customPrint, { value: print })
}

/** A copy of `data` for whoever stores it, in whichever way: all fields can be enumerated. It prints without its secrets. */
export function storable<T extends object>(data: T, { print }: SecretiveKind): T {
  return Object.defineProperty(wholeOf(data), customPrint, { value: print })
}

/** `util.inspect.custom`, without all of `node:util`. */
const customPrint = Symbol.for('nodejs.util.inspect.custom')

const wayOut = 'toJSON'

function toJson(this: object): object {
  return wholeOf(this)
}

/** All fields as plain data, whether they can be enumerated or not. */
export function wholeOf<T extends object>(data: T): T
export function wholeOf(data: object): Record<string, unknown> {
  const whole: Record<string, unknown> = {}
  for (const name of fieldsOf(data)) whole[name] = Reflect.get(data, name)
  return whole
}

/** Assigned, `__proto__` would be no field. */
const fieldsOf = (data: object): string[] =>
  Object.getOwnPropertyNames(data).filter((name) => name !== wayOut && name !== '__proto__')
