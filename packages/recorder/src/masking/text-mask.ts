/**
 * Text for people or machines, with everything masked in it that is not made of known words.
 */
import { mark, mask, type Marked, type Masking } from './masking.ts'
import { firstUnknown } from './vocabulary.ts'

/** Text that is written otherwise than it reads: what stands in the page from here to there. */
export type Written = (start: number, end: number) => string

/** Longer scripts are programs; nothing in them is for people. */
const programLength = 20_000
const tokenPattern = /[^\s"`<>(){}[\],;]+/gu
const trailingSigns = new Set(".:!?'=")

/** The text, word for word; `written` gives it as it stood, with its entities. */
export function maskText(
  masking: Masking,
  text: string,
  written: Written = (start, end) => text.slice(start, end),
): Marked {
  const { pseudonyms, addresses } = masking
  const spelled = (start: number, end: number): readonly ['html'] | readonly [] =>
    written(start, end) === text.slice(start, end) ? [] : ['html']
  let marked = ''
  let done = 0

  function take(start: number, end: number, placeholder: Marked): void {
    marked += words(done, start)
    marked += placeholder
    done = end
  }
  function words(from: number, to: number): Marked {
    let out = ''
    let at = from
    for (const { 0: token, index } of text.slice(from, to).matchAll(tokenPattern)) {
      const unknown = firstUnknown(token)
      if (unknown === -1) continue
      const start = from + index + unknown
      const end = from + index + lengthWithoutSigns(token)
      out += written(at, start) + mask(masking, 'text', text.slice(start, end), ...spelled(start, end))
      at = end
    }
    return out + written(at, to)
  }

  for (const { start, end, name } of occurrences(text, [...addresses, ...pseudonyms.known()])) {
    take(start, end, mark(name, ...spelled(start, end)))
  }
  return marked + words(done, text.length)
}

/** The length of a word without the signs at its end. */
function lengthWithoutSigns(token: string): number {
  let { length } = token
  while (trailingSigns.has(token.charAt(length - 1))) length -= 1
  return length
}

/** A script or a style: short ones word by word, a whole program as one value. */
export function maskProgram(masking: Masking, text: string): Marked {
  return text.length > programLength ? mask(masking, 'script', text) : maskText(masking, text)
}

interface Occurrence {
  readonly start: number
  readonly end: number
  readonly name: string
}

/** Where known values stand, longest first, without overlaps, in the order of the text. */
function occurrences(text: string, values: readonly (readonly [value: string, name: string])[]): Occurrence[] {
  const found: Occurrence[] = []
  // Letters whose small form is longer would shift what comes after them.
  const small = text.toLowerCase()
  const lower = small.length === text.length ? small : text
  const taken = new Uint8Array(text.length)
  for (const [value, name] of values.toSorted(([one], [other]) => other.length - one.length)) {
    const wanted = value.toLowerCase()
    for (let start = lower.indexOf(wanted); start !== -1; start = lower.indexOf(wanted, start + 1)) {
      const end = start + value.length
      // Longer values come first: one that overlaps covers our first or our last character.
      if (taken[start] === 1 || taken[end - 1] === 1) continue
      taken.fill(1, start, end)
      found.push({ start, end, name })
    }
  }
  return found.toSorted((one, other) => one.start - other.start)
}
