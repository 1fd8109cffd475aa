/**
 * Text for people or machines: harmless words stay, values that were masked before have their names, and all else is masked.
 */
import { isHarmlessRun, runs } from './harmless-words.ts'
import { placeholder, spell, type Spelling } from './placeholders.ts'
import type { Mask } from './pseudonyms.ts'

export function maskText(mask: Mask, text: string, how?: Spelling): string {
  let masked = ''
  let done = 0
  for (const { start, end, name } of occurrences(text, mask.known())) {
    masked += maskWords(mask, text.slice(done, start), how) + placeholder(name, how)
    done = end
  }
  return masked + maskWords(mask, text.slice(done), how)
}

/** Word by word: one unknown part makes all of it unknown, and of an e-mail address nothing is shown. */
function maskWords(mask: Mask, text: string, how: Spelling | undefined): string {
  let masked = ''
  let done = 0
  for (const { 0: token, index: start } of text.matchAll(/[^\s"'`<>(){}[\],;]+/gu)) {
    for (const { 0: word, index } of token.matchAll(token.includes('@') ? /.+/gu : /[^:=.!?/&]+/gu)) {
      if (!word.includes('@') && (word.match(runs) ?? []).every(isHarmlessRun)) continue
      masked += signs(text.slice(done, start + index), how) + mask.value('text', word, how)
      done = start + index + word.length
    }
  }
  return masked + signs(text.slice(done), how)
}

/** What is shown. Two braces in a row would begin a placeholder. */
function signs(text: string, how: Spelling | undefined): string {
  return spell(text.replaceAll('{{', '{ {'), how)
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
