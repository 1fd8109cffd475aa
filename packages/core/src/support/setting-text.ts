/**
 * Settings, secrets and e-mails as they stand in a file, a variable or a form. What editors, shells and deployment tools add is
 * dropped where it can't be meant. A text that can't be right is rejected here: at the service it would cost an attempt.
 */

/**
 * The text in a file.
 *
 * @param where - what it is, for the error
 * @throws TypeError for what is not UTF-8
 */
export function textFromUtf8(content: Uint8Array, where: string): string {
  try {
    return withoutMark(new TextDecoder('utf-8', { fatal: true }).decode(content))
  } catch {
    const [first, second] = content
    const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
    throw new TypeError(isUtf16 ? utf16(where) : otherEncoding(where))
  }
}

/**
 * A secret: without a byte order mark before it and line breaks behind it. Spaces count.
 *
 * @param where - what it is, for the error, which does not show it
 * @throws TypeError for several lines, and for what is not UTF-8
 */
export function secretFromText(given: string, where: string): string {
  const text = withoutMark(given).replace(/[\r\n]+$/u, '')
  // What Node makes of a variable with other octets.
  if (text.includes('\uFFFD')) throw new TypeError(otherEncoding(where))
  if (text.includes('\0')) throw new TypeError(utf16(where))
  if (/[\r\n]/u.test(text)) throw new TypeError(`${where} has several lines: it must be one`)
  return text
}

/**
 * A setting that is no secret: the same, without spaces around it.
 *
 * @throws TypeError also for one in quotation marks, which an `--env-file` of Docker leaves there
 */
export function settingFromText(given: string, where: string): string {
  const text = secretFromText(given, where).trim()
  const inner = unquoted(text)
  if (inner === text) return text
  // In an address there may be a password.
  const right = inner === '' || inner.includes('://') ? '' : `: write ${where}=${inner}`
  throw new TypeError(`${where} has quotation marks around it, which count${right}`)
}

/**
 * The e-mail of a sign-in, alone: a name or `mailto:` beside it is rejected, since it would cost an attempt at the service.
 *
 * @throws TypeError
 */
export function emailFromText(given: string, where: string): string {
  const text = settingFromText(given, where)
  if (/^mailto:|^[^"]*[\s<>,;]|[.,;>]$|\p{Cf}/iu.test(text))
    throw new TypeError(`${where} must be an e-mail alone, such as ann@example.com, without a name, brackets or spaces`)
  return text
}

/** An e-mail as people type it, or paste it: without what is not seen, and quotation marks around it. Empty for what can be none. */
export function typedEmail(text: string): string {
  return orEmpty(() => emailFromText(unquoted(text.replaceAll(/\p{Cf}/gu, '').trim()), 'e-mail'))
}

/** A password of a form, as it was typed: a space may be part of it. Empty for what no field of a form can hold. */
export function typedCredential(text: string): string {
  return orEmpty(() => secretFromText(text, 'credential'))
}

function orEmpty(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}

/** The text between quotation marks; as it is where it does not stand between them. */
export function unquoted(text: string): string {
  return text.replace(/^["'`“”„‘’‚«»]+(.*?)["'`“”‘’«»]+$/su, '$1')
}

const withoutMark = (text: string): string => text.replace(/^\uFEFF+/u, '')
const utf16 = (where: string): string => `${where} is UTF-16, as PowerShell writes files: save it as UTF-8`
const otherEncoding = (where: string): string => `${where} is not UTF-8: save it as UTF-8`
