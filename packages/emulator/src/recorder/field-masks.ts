/**
 * Values by the name of their field: query and form parameters, JSON members, cookies, addresses.
 */
import { plainFields } from '../support/plain-fields.ts'
import { isHarmless } from './harmless-words.ts'
import { spell, type Spelling } from './placeholders.ts'
import type { Mask } from './pseudonyms.ts'
import { maskText } from './text-mask.ts'

/** Shown where they are made of harmless words. */
const fixed = new Set([...plainFields.fixedByClient, ...plainFields.fixedByService])
/** Shown word by word. */
const sentences = new Set(plainFields.sentences)
const wordsInErrors = new Set(plainFields.wordsInErrors)
const wordInError = /^[A-Z][A-Z_]{2,40}$/u
const numbers = new Set(plainFields.numbers)

/** JSON as it stands in a recording. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

/** A field's name: of harmless words, or a placeholder. */
export function maskName(mask: Mask, name: string, how?: Spelling): string {
  return isHarmless(name) ? spell(name, how) : mask.value('name', name, how)
}

/** The value of a field. */
export function maskValue(mask: Mask, field: string, value: string, how?: Spelling): string {
  if (value === '' || (fixed.has(field) && isHarmless(value))) return spell(value, how)
  if (numbers.has(field) && /^\d{1,6}$/u.test(value)) return value
  // An address within an address is shown as far as it has no parameters of its own.
  if ((how === 'url' ? /^https?:\/\/[^\s?#]+$/u : /^https?:\/\/\S+$/u).test(value)) return maskAddress(mask, value, how)
  if (sentences.has(field) || (wordsInErrors.has(field) && wordInError.test(value))) return maskText(mask, value, how)
  return mask.value(field, value, how)
}

/** Parameters as they are named, those that repeat with all their values. */
export function maskParameters(mask: Mask, parameters: URLSearchParams): Record<string, string | string[]> {
  const names = [...new Set(parameters.keys())]
  return Object.fromEntries(
    names.map((name) => {
      const values = parameters.getAll(name).map((value) => maskValue(mask, name, value))
      return [maskName(mask, name), values.length > 1 ? values : values.join('')]
    }),
  )
}

/** A JSON value; `field` is the name it stands under. */
export function maskJson(mask: Mask, value: unknown, field = 'value'): Json {
  if (typeof value === 'string') return maskValue(mask, field, value)
  if (typeof value === 'number') {
    const shown = /^\d{1,2}$/u.test(String(value)) || (numbers.has(field) && /^\d{1,6}$/u.test(String(value)))
    return shown ? value : mask.value(field, String(value), 'number')
  }
  if (Array.isArray(value)) return value.map((item: unknown) => maskJson(mask, item, field))
  if (typeof value !== 'object' || value === null) return value === true || value === false ? value : null
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [maskName(mask, name), maskJson(mask, item, name)]),
  )
}

/** An address, whole or relative: paths of harmless words, parameters as fields, the rest as values. */
export function maskAddress(mask: Mask, address: string, how?: Spelling): string {
  const [, origin = '', path = '', query = '', fragment = ''] =
    /((?:https?:)?\/\/[^/?#]*)?([^?#]*)(\?[^#]*)?(#.*)?/su.exec(address) ?? []
  const parameters = query
    .slice(1)
    .split('&')
    .map((pair) => maskPair(mask, pair))
  return [
    origin && mask.value('origin', origin.toLowerCase(), how),
    maskPath(mask, path, how),
    query && spell('?', how) + parameters.join(spell('&', how)),
    fragment && spell('#', how) + maskText(mask, fragment.slice(1), 'url'),
  ].join('')
}

/** A path, segment by segment. */
export function maskPath(mask: Mask, path: string, how?: Spelling): string {
  const segments = path.split('/')
  return segments
    .map((segment) => (isHarmless(segment) ? spell(segment, how) : mask.value('path', segment, how)))
    .join(spell('/', how))
}

function maskPair(mask: Mask, pair: string): string {
  const [[name = '', value = ''] = []] = new URLSearchParams(pair)
  return `${maskName(mask, name, 'url')}=${maskValue(mask, name, value, 'url')}`
}
