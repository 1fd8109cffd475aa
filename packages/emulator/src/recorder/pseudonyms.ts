/**
 * The values that a recording masked, each with its one name, and what a replay needs to make up another in its place.
 */
import { createHash } from 'node:crypto'
import { isHarmless } from './harmless-words.ts'
import { placeholder, type Spelling } from './placeholders.ts'

/** What a value that the service made up looks like: how long it is, and which of its characters are neither letters nor digits. */
export interface Shape {
  readonly length: number
  readonly signs: string
  /** It has digits alone. */
  readonly digits?: boolean
}

/** One name for what goes by several. */
const aliases: ReadonlyMap<string, string> = new Map([
  ['login_hint', 'identity'],
  ['email', 'identity'],
  ['password', 'credential'],
])
/** Values that were masked as part of a text: they are many, and found by their words. */
const textStems = new Set(['text', 'name', 'path', 'style'])
/** Shorter values stand in any text by chance. */
const minSearchedLength = 6
const maxStemLength = 60

export type Pseudonyms = ReturnType<typeof createPseudonyms>

/** @param addresses The recorder's own, which stand for the service's, with their names */
export function createPseudonyms(addresses: readonly (readonly [address: string, name: string])[]) {
  const names = new Map<string, string>(addresses)
  const counts = new Map<string, number>()
  const known: (readonly [string, string])[] = [...addresses]
  const shapes: Record<string, Shape> = {}

  function nameOf(field: string, value: string, from: 'client' | 'service'): string {
    // The same address in other letters is the same account.
    const key = value.includes('@') ? value.toLowerCase() : value
    const present = names.get(key)
    if (present !== undefined) return present
    const isName = /^[A-Za-z_][\w.-]*$/u.test(field) && field.length <= maxStemLength && isHarmless(field)
    const stem = isName ? (aliases.get(field) ?? field) : 'value'
    const count = (counts.get(stem) ?? 0) + 1
    counts.set(stem, count)
    const name = `${stem}.${count}`
    names.set(key, name)
    if (value.length >= minSearchedLength && !textStems.has(stem)) known.push([value, name])
    if (from === 'service' && !textStems.has(stem)) shapes[name] = shapeOf(value)
    return name
  }

  return {
    /** Who wrote what is masked. */
    from(from: 'client' | 'service'): Mask {
      return {
        value: (field, value, how) => placeholder(nameOf(field, value, from), how),
        known: () => known,
      }
    },
    /** Of the values that came from the service first, by name. */
    shapes: (): Readonly<Record<string, Shape>> => ({ ...shapes }),
  }
}

/** Puts placeholders in the place of values. */
export interface Mask {
  /** The placeholder of a value; the first time, it is named after the field it came from: `{{code.1}}`. */
  value(field: string, value: string, how?: Spelling): string
  /** Values that are long enough to be looked for in text, with their names. */
  known(): readonly (readonly [value: string, name: string])[]
}

/** The value of this name that a replay makes up: as long, of the same kind, with the same signs; always the same one. */
export function madeUp(name: string, shape: Shape | undefined): string {
  if (!shape) return name.replaceAll(/\W/gu, '')
  const { length, signs, digits } = shape
  const hash = createHash('shake256', { outputLength: Math.max(1, length) })
    .update(name)
    .digest()
  const text = Array.from(hash.subarray(0, length), (byte) =>
    digits ? String((byte % 9) + 1) : alphabet.charAt(byte % alphabet.length),
  )
  const step = Math.max(1, Math.floor(length / (signs.length + 1)))
  for (const [index, sign] of Array.from(signs).entries()) if (index + 1 < length) text[(index + 1) * step] = sign
  return text.join('')
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

function shapeOf(value: string): Shape {
  const signs = [...new Set(value.match(/[ -/:-@[-`{-~]/gu))].toSorted().join('')
  return { length: value.length, signs, ...(/^\d+$/u.test(value) && { digits: true }) }
}
