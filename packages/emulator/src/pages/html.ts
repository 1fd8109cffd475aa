/**
 * Markup as a template tag: what is put in is encoded unless it is markup itself.
 */
import { encodeText } from '@owner-sso/recorder/support'

/** Markup, as opposed to text that has to be encoded first. */
export interface Markup {
  readonly markup: string
}

type Part = Markup | readonly Markup[] | string | number | false | undefined

export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return { markup: strings.map((string, index) => string + render(parts[index])).join('') }
}

/** The text that `encodeText` made this of. */
export function decodeText(encoded: string): string {
  return encoded.replace(/&(?:#x([0-9a-f]+)|\w+);/gu, (reference, hex?: string) =>
    hex === undefined ? (signs.get(reference) ?? reference) : String.fromCodePoint(Number.parseInt(hex, 16)),
  )
}

const signs: ReadonlyMap<string, string> = new Map(Array.from('&<>"', (sign) => [encodeText(sign), sign]))

function render(part: Part): string {
  if (part === undefined || part === false) return ''
  if (typeof part === 'object') return 'markup' in part ? part.markup : part.map(render).join('')
  return encodeText(String(part))
}
