/**
 * The address that a login ends on, as people paste it. No browser opens an application's own scheme: the address stands in a line of its
 * developer tools, and is copied with what is around it.
 */

/** What stands around an address, and in none that the service sends: quotation marks and brackets of any language. */
const around = /["'`<>[\](){}|\p{Pi}\p{Pf}\p{Ps}\p{Pe}]/u

/** What parsers read differently, and nobody copies. */
// oxlint-disable-next-line no-control-regex -- they are meant
const controls = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/u

/** Longer than any address of the service, with a page of console around it. */
const longestText = 65_536

/**
 * The address in a text: alone, in quotation marks, in a line such as `Failed to launch 'example://auth/callback?code=…'`, as a header
 * `Location:`, broken over several lines, or with the entities of a page's source. A text without it is returned as it is, trimmed.
 *
 * @param redirectUri - what the address begins with
 * @example
 * pastedAddress("Failed to launch 'owner://auth/callback?code=x&state=y&issuer=z' because …", 'owner://auth/callback')
 */
export function pastedAddress(text: string, redirectUri: string): string {
  const plain = withoutLayout(text.slice(0, longestText), redirectUri)
  const start = plain.indexOf(`${redirectUri}?`)
  if (start === -1 || controls.test(text)) return text.trim()
  const rest = plain.slice(start)
  const end = rest.search(around)
  const enclosed = end === -1 ? rest : rest.slice(0, end)
  // Within quotation marks a line may be broken anywhere; without them the address ends with its word.
  const isQuoted = end !== -1 && around.test(plain.charAt(start - 1))
  const words = isQuoted ? [enclosed] : enclosed.trimEnd().split(/[^\S\n]+/u)
  const [first = ''] = words
  const [line = ''] = first.trim().split(/\s/u)
  const address = isWhole(line) && !isQuoted ? line : first.replaceAll(/\s+/gu, '')
  return address.replace(/[.,;!*。！]+$/u, '')
}

/**
 * Without the entities of a page's source, the escapes of JSON and of shells, what is not seen, the indentation of lines, and
 * capitals in the scheme, which mean nothing (RFC 3986, 3.1).
 */
function withoutLayout(text: string, redirectUri: string): string {
  const scheme = redirectUri.slice(0, redirectUri.indexOf(':'))
  const lines = text.split('\n').map((line) => line.trim())
  return lines
    .join('\n')
    .replaceAll(/\p{Cf}/gu, '')
    .replaceAll(/&(?:amp;)+|&#(?:38|x26);|\\u0026/giu, '&')
    .replaceAll(/\\([/?&=%])/gu, '$1')
    .replaceAll(new RegExp(`\\b${scheme.replaceAll(/[+.]/gu, '\\$&')}:`, 'giu'), `${scheme}:`)
}

/** Whether nothing of the answer is missing. */
function isWhole(address: string): boolean {
  return ['code', 'state', 'issuer'].every((name) => new RegExp(`[?&]${name}=[^&]`, 'u').test(address))
}
