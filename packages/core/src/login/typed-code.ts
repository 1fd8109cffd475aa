/**
 * A passcode or a backup code as people type it, or paste it: in groups (`123 456`, `123-456`), with invisible characters of a
 * page, and in the digits of their keyboard.
 */

/** Spaces and dashes of every kind, the long vowel mark that a Japanese keyboard has for one, and what is not seen at all. */
const between = /[\s\p{Dash}ー\p{Cf}\p{Default_Ignorable_Code_Point}]/gu

/** The code alone: empty where nothing was typed. */
export function typedCode(text: string): string {
  return text
    .normalize('NFKC')
    .replaceAll(between, '')
    .replaceAll(/\p{Nd}/gu, valueOf)
}

/** The digits of every script stand in a row, from zero to nine. */
function valueOf(digit: string): string {
  const place = digit.codePointAt(0) ?? 0
  let first = place
  while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first -= 1
  return String((place - first) % 10)
}
