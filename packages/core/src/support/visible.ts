/**
 * Text that others have a say in (names of accounts, clients and factors, addresses, messages) as people may be shown it.
 */

/**
 * All that moves a cursor, begins a sequence (ECMA-48), ends a line, turns the direction of writing (Unicode UAX #9), or is
 * half a character: with it a name could forge a line of ours, or pass for another one.
 */
// eslint-disable-next-line no-control-regex
const unsafe = /[\p{Cc}\p{Bidi_Control}\p{Cs}\u2028\u2029]/gu

/** One line, in which such characters are written as JSON writes them: `\u001b`. JSON on one line stays the JSON that it was. */
export function visible(text: string): string {
  return text.replaceAll(unsafe, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
