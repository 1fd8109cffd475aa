/** How one message is masked: whose it is, what it may call by name, and the marks that stand for placeholders on the way. */
import { placeholder, PLACEHOLDER_NAME, type Spelling } from './placeholders.ts'
import type { Pseudonyms } from './pseudonyms.ts'

export interface Masking {
  readonly pseudonyms: Pseudonyms
  /** Who wrote the message. */
  readonly from: 'client' | 'service'
  /** The recorder's own addresses, which stand for the service's: `home` and `regional`. */
  readonly addresses: readonly (readonly [address: string, name: string])[]
}

/**
 * Masked text on the way into a fixture. Placeholders are still between two characters that no text can bring along: a
 * text's own count as unknown, so they are masked.
 */
export type Marked = string

const [BEGIN, END] = ['\u{F0000}', '\u{F0001}']

/** The placeholder of a value that came in a field of this name. */
export function mask({ pseudonyms, from }: Masking, field: string, value: string, ...how: readonly Spelling[]): Marked {
  const name = pseudonyms.nameOf(PLACEHOLDER_NAME.test(field) ? field.slice(0, 60) : 'value', value, from)
  return mark(name, ...how)
}

/** The placeholder of this name. */
export function mark(name: string, ...how: readonly Spelling[]): Marked {
  return `${BEGIN}${[name, ...how].join(':')}${END}`
}

/** As it is written to the fixture. */
export function finished(text: Marked): string {
  return text
    .replaceAll('{{', mark('open'))
    .replaceAll(new RegExp(`${BEGIN}([^${END}]*)${END}`, 'gu'), (_marked, inner: string) => {
      const [name = '', ...how] = inner.split(':')
      return placeholder(name, ...how.filter((each): each is Spelling => each !== ''))
    })
}
