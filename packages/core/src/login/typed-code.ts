/**
 * A passcode or a backup code as people type it, or paste it: in groups (`123 456`, `123-456`), with invisible characters of a page.
 */

/** Spaces and dashes of every kind, and what is not seen at all. */
const between = /[\s\p{Dash}\p{Cf}]/gu

/** The code alone: empty where nothing was typed. */
export function typedCode(text: string): string {
  return text.replaceAll(between, '')
}
