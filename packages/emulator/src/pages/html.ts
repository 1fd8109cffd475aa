/**
 * Markup as a template tag: what is put in is encoded unless it is markup itself.
 */
import { encodeText } from '../support/encoded-text.ts'

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
