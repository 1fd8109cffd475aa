/**
 * The values that a recording masked, each with its one name, and what a replay needs to make up another in its place.
 */
import { createHash } from 'node:crypto'

/** What a value that the service made up looks like: how long it is, and which of its characters are neither letters nor digits. */
export interface Shape {
  readonly length: number
  readonly signs: string
  /** It has digits alone. */
  readonly digits?: boolean
}

export interface Pseudonyms {
  /** The name of a value; the first time, it is named after the field it came from: `code.1`. */
  nameOf(field: string, value: string, from: 'client' | 'service'): string
  /** Values of fields that are long enough to be looked for in text, with their names. */
  known(): readonly (readonly [value: string, name: string])[]
  /** Of the values that came from the service first, by name. */
  shapes(): Readonly<Record<string, Shape>>
}

/** One name for what goes by several. */
const aliases: Readonly<Record<string, string>> = {
  login_hint: 'identity',
  email: 'identity',
  username: 'identity',
  password: 'credential',
  passCode: 'passcode',
}
/** Names of values that were masked as part of a text: they are many, and found by their words. */
const textStems = new Set(['text', 'script', 'style', 'name', 'path'])
/** Shorter values stand in any text by chance. */
const minSearchedLength = 6

export function createPseudonyms(): Pseudonyms {
  const names = new Map<string, string>()
  const counts = new Map<string, number>()
  const known: [string, string][] = []
  const shapes: Record<string, Shape> = {}
  return {
    nameOf(field, value, from) {
      // The same address in other letters is the same account.
      const key = value.includes('@') ? value.toLowerCase() : value
      const present = names.get(key)
      if (present !== undefined) return present
      const stem = aliases[field] ?? field
      const count = (counts.get(stem) ?? 0) + 1
      counts.set(stem, count)
      const name = `${stem}.${count}`
      names.set(key, name)
      if (value.length >= minSearchedLength && !textStems.has(stem)) known.push([value, name])
      if (from === 'service' && !textStems.has(stem)) shapes[name] = shapeOf(value)
      return name
    },
    known: () => known,
    shapes: () => shapes,
  }
}

/** The value of this name that a replay makes up: as long, of the same kind, with the same signs; always the same one. */
export function madeUp(name: string, shape: Shape | undefined): string {
  if (!shape) return name.replaceAll(/\W/gu, '')
  const { length, signs, digits } = shape
  const text = Array.from({ length }, (_, index) => {
    const byte = createHash('sha256')
      .update(`${name} ${index >> 5}`)
      .digest()
      .readUInt8(index % 32)
    return digits ? String((byte % 9) + 1) : alphabet.charAt(byte % alphabet.length)
  })
  const step = Math.max(1, Math.floor(length / (signs.length + 1)))
  for (const [index, sign] of Array.from(signs).entries()) if (index + 1 < length) text[(index + 1) * step] = sign
  return text.join('')
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

function shapeOf(value: string): Shape {
  const signs = [...new Set(value.match(/[ -/:-@[-`{-~]/gu))].toSorted().join('')
  return { length: value.length, signs, ...(/^\d+$/u.test(value) && { digits: true }) }
}
