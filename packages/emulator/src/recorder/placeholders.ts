/**
 * What stands in a recording in place of a value: `{{code.1}}`, or `{{state.1:url}}` where the value is spelled as in a URL.
 */
import { encodeText } from '../support/encoded-text.ts'

/** How a value is written where it stands: percent-encoded, with entities, or as a JSON number. */
export type Spelling = 'url' | 'html' | 'number'

export interface Placeholder {
  readonly name: string
  readonly spelling: Spelling | undefined
}

const spellers: Readonly<Record<Spelling, (value: string) => string>> = {
  url: encodeURIComponent,
  html: encodeText,
  number: String,
}
const pattern = /\{\{([A-Za-z_][\w.-]{0,79})(?::(url|html|number))?\}\}/u

/** The value as it is written there. */
export function spell(value: string, how: Spelling | undefined): string {
  return how === undefined ? value : spellers[how](value)
}

export function placeholder(name: string, how?: Spelling): string {
  return how === undefined ? `{{${name}}}` : `{{${name}:${how}}}`
}

/** Text with placeholders, in its parts. */
export function parseTemplate(text: string): readonly (string | Placeholder)[] {
  const pieces = text.split(pattern)
  return pieces.flatMap((piece, index): (string | Placeholder)[] => {
    if (index % 3 === 0) return piece === '' ? [] : [piece]
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the pattern finds no other spelling
    return index % 3 === 1 ? [{ name: piece, spelling: pieces[index + 1] as Spelling | undefined }] : []
  })
}

/** The text with the values in place. */
export function render(template: string, valueOf: (name: string) => string): string {
  return parseTemplate(template)
    .map((part) => (typeof part === 'string' ? part : spell(valueOf(part.name), part.spelling)))
    .join('')
}

/** The one placeholder that a text is, whole. */
export function onlyPlaceholder(text: string): Placeholder | undefined {
  const [first, ...more] = parseTemplate(text)
  return more.length === 0 && typeof first === 'object' ? first : undefined
}
