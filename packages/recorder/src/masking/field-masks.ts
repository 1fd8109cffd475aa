/**
 * Values by the name of their field: query and form parameters, JSON members, cookies, addresses.
 */
import { finished, mark, mask, respelled, type Marked, type Masking } from './masking.ts'
import { plainFields } from './plain-fields.ts'
import { maskText } from './text-mask.ts'
import { isKnown } from './vocabulary.ts'

/** Shown where they are made of known words. */
const fixed = new Set([...plainFields.fixedByClient, ...plainFields.fixedByService])
/** Shown word by word. */
const sentences = new Set(plainFields.sentences)
const wordsInErrors = new Set(plainFields.wordsInErrors)
const wordInError = /^[A-Z][A-Z_]{2,40}$/u
const numbers = new Set(plainFields.numbers)
/** It takes any text whole: each part may be missing. */
const addressPattern = /((?:https?:)?\/\/[^/?#]*)?([^?#]*)(\?[^#]*)?(#.*)?/su

/** JSON as it stands in a fixture. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

/** A field's name: of known words, or a placeholder. */
export function maskName(masking: Masking, name: string): Marked {
  return isKnown(name) ? name : mask(masking, 'name', name)
}

/** The value of a field. */
export function maskValue(masking: Masking, field: string, value: string): Marked {
  if (value === '' || (fixed.has(field) && isKnown(value))) return value
  if (numbers.has(field) && /^\d{1,6}$/u.test(value)) return value
  if (/^https?:\/\/[^\s]+$/u.test(value)) return maskAddress(masking, value)
  if (sentences.has(field) || (wordsInErrors.has(field) && wordInError.test(value))) return maskText(masking, value)
  return mask(masking, field, value)
}

/** Parameters as they are named, those that repeat with all their values. */
export function maskParameters(masking: Masking, parameters: URLSearchParams): Record<string, string | string[]> {
  const fields = new Map<string, string[]>()
  for (const [name, value] of parameters) {
    const shown = finished(maskName(masking, name))
    const values = fields.get(shown)
    if (values) values.push(finished(maskValue(masking, name, value)))
    else fields.set(shown, [finished(maskValue(masking, name, value))])
  }
  return Object.fromEntries([...fields].map(([name, values]) => [name, values.length > 1 ? values : values.join('')]))
}

/** A JSON value; `field` is the name it stands under. */
export function maskJson(masking: Masking, value: unknown, field = 'value'): Json {
  if (typeof value === 'string') return finished(maskValue(masking, field, value))
  if (typeof value === 'number') {
    const shown = /^\d{1,2}$/u.test(String(value)) || (numbers.has(field) && /^\d{1,6}$/u.test(String(value)))
    return shown ? value : finished(mask(masking, field, String(value), 'number'))
  }
  if (Array.isArray(value)) return value.map((item: unknown) => maskJson(masking, item, field))
  if (typeof value !== 'object' || value === null) return value === true || value === false ? value : null
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [finished(maskName(masking, name)), maskJson(masking, item, name)]),
  )
}

/** An address, whole or relative: ours by name, paths of known words, parameters as fields. */
export function maskAddress(masking: Masking, address: string): Marked {
  const [, origin = '', path = '', query = '', fragment = ''] = addressPattern.exec(address) ?? []
  return [
    origin && maskOrigin(masking, origin),
    maskPath(masking, path),
    query &&
      `?${query
        .slice(1)
        .split('&')
        .map((pair) => maskPair(masking, pair))
        .join('&')}`,
    fragment && `#${maskText(masking, fragment.slice(1))}`,
  ].join('')
}

/** A path, segment by segment. */
export function maskPath(masking: Masking, path: string): Marked {
  const segments = path.split('/')
  return segments.map((segment) => (isKnown(segment) ? segment : mask(masking, 'path', segment))).join('/')
}

function maskOrigin(masking: Masking, origin: string): Marked {
  const ours = masking.addresses.find(([address]) => address === origin.toLowerCase())
  return ours ? mark(ours[1]) : mask(masking, 'origin', origin)
}

function maskPair(masking: Masking, pair: string): Marked {
  const [name = '', written] = pair.split(/[=](.*)/su)
  const shown = isKnown(name) ? name : mask(masking, 'name', name)
  if (written === undefined) return shown
  const value = decoded(written)
  const masked = maskValue(masking, decoded(name), value)
  return `${shown}=${respelled(masked, 'url', value === written ? 'placeholders' : 'all')}`
}

function decoded(written: string): string {
  return new URLSearchParams(`value=${written}`).get('value') ?? ''
}
