/** What is wrong with a fixture that was cut or edited by hand, named by its place. */
import { parseTemplate } from './placeholders.ts'

type Check = (value: unknown, at: string) => string | undefined

const INSTANCES = ['home', 'regional']
/** The first line of a recording, so that nobody mistakes another file for one. */
export const FORMAT = 'owner-sso login recording'

/** A sentence about the first thing that is wrong, or undefined. */
export function checkFixture(value: unknown): string | undefined {
  if (!isRecord(value)) return 'it must be an object'
  if (value['format'] !== FORMAT) return `format must be "${FORMAT}"`
  if (value['version'] !== 1) return 'version must be 1: it was written by another version of @owner-sso/emulator'
  return (
    record(shape)(value['placeholders'], 'placeholders') ??
    list(exchange)(value['exchanges'], 'exchanges') ??
    (Array.isArray(value['exchanges']) && value['exchanges'].length === 0 ? 'exchanges is empty' : undefined)
  )
}

const exchange: Check = fields({
  request: fields({
    instance: oneOf(INSTANCES),
    method: text,
    path: text,
    query: optional(parameters),
    cookies: optional(parameters),
    headers: parameters,
    ...bodies(),
  }),
  answer: (value, at) => {
    if (value === 'cut' || value === 'none') return undefined
    return fields({ status, headers: parameters, ...bodies() })(value, at)
  },
})

function bodies(): Record<string, Check> {
  return { form: optional(parameters), json: optional(json), html: optional(list(text)), text: optional(list(text)) }
}

function status(value: unknown, at: string): string | undefined {
  const isStatus = typeof value === 'number' && Number.isInteger(value) && value >= 200 && value <= 599
  return isStatus ? undefined : `${at} must be a number from 200 to 599`
}

function shape(value: unknown, at: string): string | undefined {
  const isShape = isRecord(value) && Number.isInteger(value['length']) && typeof value['signs'] === 'string'
  return isShape ? undefined : `${at} must have a length and signs`
}

function text(value: unknown, at: string): string | undefined {
  if (typeof value !== 'string') return `${at} must be text`
  try {
    parseTemplate(value)
    return undefined
  } catch (error) {
    return `${at}: ${error instanceof Error ? error.message : String(error)}`
  }
}

function json(value: unknown, at: string): string | undefined {
  if (typeof value === 'string') return text(value, at)
  if (Array.isArray(value)) return list(json)(value, at)
  return isRecord(value) ? record(json)(value, at) : undefined
}

function parameters(value: unknown, at: string): string | undefined {
  return record((item, where) => (Array.isArray(item) ? list(text)(item, where) : text(item, where)))(value, at)
}

function optional(check: Check): Check {
  return (value, at) => (value === undefined ? undefined : check(value, at))
}

function oneOf(values: readonly string[]): Check {
  return (value, at) => (values.includes(String(value)) ? undefined : `${at} must be ${values.join(' or ')}`)
}

function list(check: Check): Check {
  return (value, at) => {
    if (!Array.isArray(value)) return `${at} must be a list`
    return first(value.entries(), (index, item) => check(item, `${at}[${String(index)}]`))
  }
}

function record(check: Check): Check {
  return (value, at) => {
    if (!isRecord(value)) return `${at} must be an object`
    return first(Object.entries(value), (name, item) => text(name, at) ?? check(item, `${at}.${name}`))
  }
}

function fields(checks: Readonly<Record<string, Check>>): Check {
  return (value, at) => {
    if (!isRecord(value)) return `${at} must be an object`
    const unknown = Object.keys(value).find((name) => !Object.hasOwn(checks, name))
    if (unknown !== undefined) return `${at}.${unknown} is unknown`
    return first(Object.entries(checks), (name, check) => check(value[name], `${at}.${name}`))
  }
}

function first<Key, Value>(
  entries: Iterable<readonly [Key, Value]>,
  check: (key: Key, value: Value) => string | undefined,
): string | undefined {
  for (const [key, value] of entries) {
    const problem = check(key, value)
    if (problem !== undefined) return problem
  }
  return undefined
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
