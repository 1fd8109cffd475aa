/**
 * Puts one address in another's place, however it is spelled: in a URL, in a query, in JSON, in HTML.
 */

/** An address and what stands in its place. */
export type Swap = readonly [from: string, to: string]

const percent = '(?:%(?:25)?|&#x25;|&#37;)'
/** The signs of an address, percent-encoded, as entities, or with JSON's backslash. */
const signSpellings: Readonly<Record<string, string>> = {
  ':': `:|${percent}3a|&#x3a;|&#58;|&colon;`,
  '/': String.raw`\\?/|${percent}2f|&#x2f;|&#47;|&sol;`,
  '.': String.raw`\.|${percent}2e|&#x2e;|&#46;|&period;`,
  '[': String.raw`\[|${percent}5b|&#x5b;|&#91;|&lbrack;`,
  ']': String.raw`\]|${percent}5d|&#x5d;|&#93;|&rbrack;`,
  '-': `-|${percent}2d|&#x2d;|&#45;`,
}

/** The text with each address replaced, in the spelling it had. A longer name or port that only begins like one is another. */
export function swapped(text: string, swaps: readonly Swap[]): string {
  return swaps.reduce((result, [from, to]) => {
    const signs: string[] = []
    const pattern = Array.from(from, (character) => {
      if (!Object.hasOwn(signSpellings, character)) return character
      if (signs.includes(character)) return `(?:\\${signs.indexOf(character) + 1})`
      signs.push(character)
      return `(${signSpellings[character]})`
    })
    return result.replaceAll(new RegExp(`${pattern.join('')}(?![\\w-]|\\.\\w)`, 'giu'), (_all, ...groups: unknown[]) =>
      Array.from(to, (character) => {
        const spelling = groups[signs.indexOf(character)]
        return typeof spelling === 'string' ? spelling : character
      }).join(''),
    )
  }, text)
}

/** The base address without its trailing slash. @throws {TypeError} It is not an address that a credential may be sent to. */
export function baseAddress(option: string, value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined
  const isLocal = url !== undefined && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/u.test(url.hostname)
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal)
  if (!url || !isSafe || url.username !== '' || url.search !== '' || url.hash !== '') {
    throw new TypeError(`Option ${option} must be an https address (or an http one of this machine), without a query`)
  }
  return url.href.replace(/\/+$/u, '')
}
