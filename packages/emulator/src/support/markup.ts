/**
 * Text as a page may have it, and back.
 */

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const signs: ReadonlyMap<string, string> = new Map(Object.entries(entities).map(([sign, entity]) => [entity, sign]))

/** With entities for all but letters, digits and a few harmless signs. */
export function encodeText(text: string): string {
  return text.replace(/[^\w\s.,:;!?@/()-]/gu, (sign) => entities[sign] ?? `&#x${sign.codePointAt(0)?.toString(16)};`)
}

/** The text that `encodeText` made this of. */
export function decodeText(encoded: string): string {
  return encoded.replace(/&(?:#x([0-9a-f]+)|\w+);/gu, (reference, hex?: string) =>
    hex === undefined ? (signs.get(reference) ?? reference) : String.fromCodePoint(Number.parseInt(hex, 16)),
  )
}

/** Markup, as opposed to text that has to be encoded first. */
export interface Markup {
  readonly markup: string
}

type Part = Markup | readonly Markup[] | string | number | false | undefined

export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return { markup: strings.map((string, index) => string + render(parts[index])).join('') }
}

function render(part: Part): string {
  if (part === undefined || part === false) return ''
  if (typeof part === 'object') return 'markup' in part ? part.markup : part.map(render).join('')
  return encodeText(String(part))
}
