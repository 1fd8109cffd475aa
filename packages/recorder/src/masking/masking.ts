/**
 * How one message is masked: whose it is, what it may call by name, and the marks that stand for placeholders on the way.
 */
import { placeholder, placeholderName, spell, type Spelling } from '../fixture/placeholders.ts'
import type { Pseudonyms } from './pseudonyms.ts'
import { isKnown } from './vocabulary.ts'

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

const [begin, end] = ['\u{F0000}', '\u{F0001}']
const markOrShown = /\u{F0000}([^\u{F0001}]*)\u{F0001}|([^\u{F0000}]+)/gu

/** The placeholder of a value that came in a field of this name. */
export function mask({ pseudonyms, from }: Masking, field: string, value: string, ...how: readonly Spelling[]): Marked {
  return mark(pseudonyms.nameOf(shownField(field), value, from), ...how)
}

/** A placeholder is named after a field only as far as the field's own name may be shown. */
function shownField(field: string): string {
  const [kind = ''] = field.split('.')
  return [field, kind].find((name) => name.length <= 60 && placeholderName.test(name) && isKnown(name)) ?? 'value'
}

/** The placeholder of this name. */
export function mark(name: string, ...how: readonly Spelling[]): Marked {
  return `${begin}${[name, ...how].join(':')}${end}`
}

/** As it is written to the fixture. */
export function finished(text: Marked): string {
  return text
    .replaceAll('{{', mark('open'))
    .replaceAll(new RegExp(`${begin}([^${end}]*)${end}`, 'gu'), (_marked, inner: string) => {
      const [name = '', ...how] = inner.split(':')
      return placeholder(name, ...how.filter((each): each is Spelling => each !== ''))
    })
}

/** Each placeholder says that it is spelled this way, and what is shown is. */
export function respelled(text: Marked, how: Spelling, what: 'all' | 'placeholders' = 'all'): Marked {
  return text.replaceAll(markOrShown, (_all, inner?: string, shown?: string) => {
    if (inner !== undefined) return mark(inner, how)
    return what === 'all' ? spell(shown ?? '', how) : (shown ?? '')
  })
}
