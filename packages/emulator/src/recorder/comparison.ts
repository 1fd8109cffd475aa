/**
 * What is different between a request that arrived and the one that was recorded, in sentences that name no value of the
 * client's.
 */
import type { Json } from './field-masks.ts'
import type { RecordedRequest } from './fixture.ts'
import { isHarmless } from './harmless-words.ts'
import { onlyPlaceholder } from './placeholders.ts'
import { fits, type Bindings } from './template-match.ts'

/** A request as it arrived at a replay. */
export interface ArrivedRequest {
  /** Undefined for an address that is neither's. */
  readonly instance: string | undefined
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly cookies: URLSearchParams
  /** The media type alone. */
  readonly contentType: string
  readonly body: string
}

/** Empty where the request is the recorded one; then `bindings` know what its placeholders stand for. */
export function differences(expected: RecordedRequest, arrived: ArrivedRequest, bindings: Bindings): string[] {
  const { instance, method, path } = expected
  if (arrived.instance !== instance) return [`it must be sent to the ${instance} instance`]
  if (arrived.method !== method || !fits(path, arrived.path, bindings))
    return [
      isHarmless(`${arrived.method} ${arrived.path}`)
        ? `${arrived.method} ${arrived.path} came`
        : 'another request came',
    ]
  return [
    ...compareFields('query', expected.query ?? {}, valuesOf(arrived.query), bindings),
    ...compareFields('cookie', expected.cookies ?? {}, valuesOf(arrived.cookies), bindings, 'more is fine'),
    ...compareBody(expected, arrived, bindings),
  ]
}

function compareBody(expected: RecordedRequest, { contentType, body }: ArrivedRequest, bindings: Bindings): string[] {
  const { form, json, html, text } = expected
  const wanted =
    String(expected.headers['content-type'] ?? '')
      .split(';')[0]
      ?.trim() ?? ''
  if (wanted !== '' && !fits(wanted, contentType, bindings)) return [`content-type must be ${wanted}`]
  if (form) return compareFields('form', form, valuesOf(new URLSearchParams(body)), bindings)
  if (json !== undefined) return compareJson('body', json, parsed(body), bindings)
  return fits([...(html ?? text ?? [])].join('\n'), body, bindings) ? [] : ['body differs']
}

/** Each name with its value, or with a list where it has several. */
function valuesOf(parameters: URLSearchParams): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    [...new Set(parameters.keys())].map((name) => {
      const values = parameters.getAll(name)
      return [name, values.length > 1 ? values : values[0]]
    }),
  )
}

function compareFields(
  at: string,
  expected: Readonly<Record<string, Json>>,
  arrived: Readonly<Record<string, unknown>>,
  bindings: Bindings,
  extra?: 'more is fine',
): string[] {
  const left = new Map(Object.entries(arrived))
  const problems: string[] = []
  for (const [template, wanted] of byCertainty(expected, bindings)) {
    const name = [...left.keys()].find((each) => fits(template, each, new Map(bindings)))
    if (name === undefined || !fits(template, name, bindings)) {
      problems.push(`${at}: ${template} is missing`)
      continue
    }
    problems.push(...compareJson(`${at}: ${template}`, wanted, left.get(name), bindings))
    left.delete(name)
  }
  if (extra === undefined) problems.push(...[...left.keys()].map((name) => `${at}: ${shown(name)} was not there`))
  return problems
}

function compareJson(at: string, expected: Json, arrived: unknown, bindings: Bindings): string[] {
  if (typeof expected === 'string') {
    const text = onlyPlaceholder(expected)?.spelling === 'number' ? String(arrived) : arrived
    return typeof text === 'string' && fits(expected, text, bindings) ? [] : [differs(at, expected)]
  }
  if (isList(expected)) {
    if (!Array.isArray(arrived) || arrived.length !== expected.length)
      return [`${at} must be a list of ${expected.length}`]
    return expected.flatMap((item, index) => compareJson(`${at}[${index}]`, item, arrived[index], bindings))
  }
  if (typeof expected !== 'object' || expected === null)
    return arrived === expected ? [] : [`${at} must be ${String(expected)}`]
  if (typeof arrived !== 'object' || arrived === null || Array.isArray(arrived)) return [`${at} must be an object`]
  return compareFields(at, expected, { ...arrived }, bindings)
}

/** Names that could be any come last, so that they don't take another's place. */
function byCertainty<Value>(
  expected: Readonly<Record<string, Value>>,
  bindings: Bindings,
): readonly (readonly [string, Value])[] {
  const isOpen = ([name]: readonly [string, Value]): boolean => {
    const whole = onlyPlaceholder(name)
    return whole !== undefined && !bindings.has(whole.name)
  }
  const entries = Object.entries(expected)
  return [...entries.filter((entry) => !isOpen(entry)), ...entries.filter(isOpen)]
}

function differs(at: string, template: string): string {
  const whole = onlyPlaceholder(template)
  if (whole) return `${at} must be ${template}, the value that was sent before`
  return `${at} must be "${template}"`
}

function shown(name: string): string {
  return isHarmless(name) ? name : 'another name'
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}
