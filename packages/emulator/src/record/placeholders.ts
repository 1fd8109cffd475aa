/**
 * What stands in a fixture in place of a value: `{{code.1}}`, or `{{state.1:url}}` where the value is spelled as in a URL.
 * `{{open}}` stands for two braces that the service itself wrote.
 */
import { encodeText } from '../html.ts'

/** How a value is written where it stands: percent-encoded, with entities, or as a JSON number. */
export type Spelling = 'url' | 'html' | 'number'

export interface Placeholder {
  readonly name: string
  readonly spellings: readonly Spelling[]
}

/** Text with placeholders, in its parts. */
export type Template = readonly (string | Placeholder)[]

/** What the names of values may look like. */
export const PLACEHOLDER_NAME: RegExp = /^[A-Za-z_][\w.-]{0,79}$/u

const SPELL: Readonly<Record<Spelling, (value: string) => string>> = {
  url: encodeURIComponent,
  html: encodeText,
  number: String,
}
const PLACEHOLDER = /\{\{([A-Za-z_][\w.-]{0,79})((?::[a-z]+)*)\}\}/u

/** The value as it is spelled there. */
export function spell(value: string, how: Spelling): string {
  return SPELL[how](value)
}

export function placeholder(name: string, ...spellings: readonly Spelling[]): string {
  return `{{${[name, ...spellings].join(':')}}}`
}

/** @throws {SyntaxError} A placeholder has an unknown spelling. */
export function parseTemplate(text: string): Template {
  const pieces = text.split(new RegExp(PLACEHOLDER, 'gu'))
  const parts: (string | Placeholder)[] = []
  for (let index = 0; index < pieces.length; index += 3) {
    const [literal = '', name, spellings = ''] = pieces.slice(index, index + 3)
    if (literal !== '') parts.push(literal)
    if (name === 'open') parts.push('{{')
    else if (name !== undefined) parts.push({ name, spellings: spellings.split(':').slice(1).map(spelling) })
  }
  return parts
}

/** The text with the values in place. */
export function render(template: Template, valueOf: (name: string) => string): string {
  return template
    .map((part) =>
      typeof part === 'string' ? part : part.spellings.reduce((value, how) => SPELL[how](value), valueOf(part.name)),
    )
    .join('')
}

/** The one placeholder that a text is, whole. */
export function onlyPlaceholder(text: string): Placeholder | undefined {
  const parts = parseTemplate(text)
  const [first] = parts
  return parts.length === 1 && typeof first === 'object' ? first : undefined
}

function spelling(name: string): Spelling {
  if (name === 'url' || name === 'html' || name === 'number') return name
  throw new SyntaxError(`a placeholder can't be spelled ${name}: url, html or number`)
}
