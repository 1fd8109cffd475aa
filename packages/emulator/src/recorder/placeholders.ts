/**
 * What stands in a recording in place of a value, `{{code.1}}`, or `{{state.1:url}}` where the value is spelled as in a URL; and how
 * a replay puts values in their place again.
 */
import { createHash } from 'node:crypto'
import { encodeText } from '../support/markup.ts'

/** How a value is written where it stands: percent-encoded, with entities, or as a JSON number. */
export type Spelling = 'url' | 'html' | 'number'

/** What a value that the service made up looks like: how long it is, and which of its characters are neither letters nor digits. */
export interface Shape {
  readonly length: number
  readonly signs: string
  /** It has digits alone. */
  readonly digits?: boolean
}

/** What each placeholder stands for in this run of the recording. */
export type Bindings = Map<string, string>

interface Placeholder {
  readonly name: string
  readonly spelling: Spelling | undefined
}

const spellers: Readonly<Record<Spelling, (value: string) => string>> = {
  url: encodeURIComponent,
  html: encodeText,
  number: String,
}
const pattern = /\{\{([A-Za-z_][\w.-]{0,79})(?::(url|html|number))?\}\}/u

/** Letters, digits and all that is not ASCII, in a row. */
const runs = /[^\s!-/:-@[-`{-~]+/gu
const plainRun = /^(?:\d{1,2}|\p{Lu}?\p{Ll}{1,15}(?:\p{Lu}\p{Ll}{2,14}){0,4}|\p{Lu}{1,4}|S256|(?:oauth|h|v)\d)$/u

/** Whether a text is made of plain words, numbers of one or two digits, and signs: what looks made up is none. */
export function isPlain(text: string): boolean {
  return !text.includes('{{') && (text.match(runs) ?? []).every((run) => plainRun.test(run))
}

export function spell(value: string, how: Spelling | undefined): string {
  return how === undefined ? value : spellers[how](value)
}

export function placeholder(name: string, how?: Spelling): string {
  return how === undefined ? `{{${name}}}` : `{{${name}:${how}}}`
}

function partsOf(template: string): readonly (string | Placeholder)[] {
  const pieces = template.split(pattern)
  return pieces.flatMap((piece, index): (string | Placeholder)[] => {
    if (index % 3 === 0) return piece === '' ? [] : [piece]
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the pattern finds no other spelling
    return index % 3 === 1 ? [{ name: piece, spelling: pieces[index + 1] as Spelling | undefined }] : []
  })
}

export function render(template: string, valueOf: (name: string) => string): string {
  return partsOf(template)
    .map((part) => (typeof part === 'string' ? part : spell(valueOf(part.name), part.spelling)))
    .join('')
}

/** Whether the text is what the template stands for; what stood for nothing yet stands for its part of it from now on. */
export function fits(template: string, text: string, bindings: Bindings): boolean {
  const unbound: Placeholder[] = []
  const source = partsOf(template).map((part) => {
    if (typeof part === 'string') return escaped(part)
    const value = bindings.get(part.name)
    if (value !== undefined) return escaped(spell(value, part.spelling))
    unbound.push(part)
    return '(.*?)'
  })
  const found = new RegExp(`^${source.join('')}$`, 'su').exec(text)
  if (!found) return false
  return unbound.every(({ name, spelling }, index) => {
    const part = found[index + 1] ?? ''
    const value = spelling === 'url' ? (new URLSearchParams(`v=${part.replaceAll('+', '%2B')}`).get('v') ?? '') : part
    const known = bindings.get(name) ?? value
    bindings.set(name, known)
    return known === value
  })
}

function escaped(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/gu, String.raw`\$&`)
}

export function shapeOf(value: string): Shape {
  const signs = [...new Set(value.match(/[ -/:-@[-`{-~]/gu))].toSorted().join('')
  return { length: value.length, signs, ...(/^\d+$/u.test(value) && { digits: true }) }
}

/** The value of this name that a replay makes up: as long, of the same kind, with the same signs; always the same one. */
export function madeUp(name: string, shape: Shape | undefined): string {
  if (!shape) return name.replaceAll(/\W/gu, '')
  const { length, signs, digits } = shape
  const alphabet = digits ? '123456789' : 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
  const bytes = createHash('shake256', { outputLength: Math.max(1, length) })
    .update(name)
    .digest()
  const text = Array.from(bytes, (byte) => alphabet.charAt(byte % alphabet.length)).join('')
  return `${text.charAt(0)}${signs}${text.slice(1 + signs.length)}`.slice(0, length)
}
