/**
 * Text as a page may have it, and back.
 */

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** With entities for all but letters, digits and a few harmless signs. */
export function encodeText(text: string): string {
  return text.replace(/[^\w\s.,:;!?@/()-]/gu, (sign) => entities[sign] ?? `&#x${sign.codePointAt(0)?.toString(16)};`)
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
