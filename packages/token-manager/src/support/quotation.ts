/**
 * What an error may quote of a response: words and names that no secret looks like. All else becomes an ellipsis, and a text
 * that repeats what was sent is not quoted at all.
 */

/** Letters, none but the first in upper case or all of them, with an apostrophe, a hyphen or an underscore between them; or one or two digits. */
const part = '(?:\\p{L}[\\p{Ll}\\p{Lo}\\p{M}]{0,23}|\\p{Lu}{1,24})'
const word = new RegExp(`^(?:${part}(?:['’_-]${part}){0,3}|\\d{1,2})$`, 'u')
const punctuation = /^[("“‘'«]*|[)"”’'».,:;!?…]*$/gu
const fieldName = /^[a-z]{1,24}(?:[_.[\]-]{1,2}(?:[a-z]{1,24}|\d{1,2}))*\]?$/iu

const mostWords = 16
const mostNames = 12

/**
 * A sentence of the service's.
 *
 * @param secrets - what was sent, so that it may be repeated in the text
 * @returns at most 16 words; `undefined` where nothing of it may be quoted
 */
export function quotedWords(text: string, secrets: readonly string[] = []): string | undefined {
  const repeats = secrets.some((secret) => squeezed(text).includes(squeezed(secret)))
  const words = text.slice(0, 1000).split(/\s+/u).filter(Boolean)
  if (repeats || words.length === 0) return undefined
  const shown = words.slice(0, mostWords).map((each) => (word.test(each.replaceAll(punctuation, '')) ? each : '…'))
  if (shown.every((each) => each === '…')) return undefined
  return [...shown, ...(words.length > mostWords ? ['…'] : [])].join(' ')
}

/** Names of fields or members, in order and once each: at most 12. */
export function quotedNames(names: readonly string[], secrets: readonly string[] = []): string {
  const plain = [...new Set(names)].map((name) =>
    name.length <= 48 && fieldName.test(name.replace(/^_/u, '')) && !secrets.includes(name) ? name : '…',
  )
  const shown = [...new Set(plain)]
  return [...shown.slice(0, mostNames), ...(shown.length > mostNames ? ['…'] : [])].join(', ')
}

function squeezed(text: string): string {
  return text.replaceAll(/\s+/gu, '').toLowerCase()
}
