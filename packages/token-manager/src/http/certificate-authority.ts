/**
 * The option `tls.ca`: certificates as PEM. OpenSSL passes over what it can't read, and then nobody's certificate is trusted, so
 * it is read here first.
 */
import { X509Certificate } from 'node:crypto'

const certificate = /-----BEGIN (?<kind>(?:X509 |TRUSTED )?CERTIFICATE)-----[^]*?-----END \k<kind>-----/gu
const begin = /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----/gu

/** The certificates of all that was given, and nothing else. @throws TypeError that says what came in place of one, and never shows it */
export function checkedAuthority(ca: unknown, option: string): string {
  const given: readonly unknown[] = Array.isArray(ca) ? ca : [ca]
  const problem = given.length === 0 ? 'it is an empty list' : given.map(problemOf).find((each) => each !== undefined)
  if (problem !== undefined) throw new TypeError(`${option} must be certificates as PEM text; ${problem}`)
  return given.flatMap((each) => textOf(each).match(certificate) ?? []).join('\n')
}

function problemOf(given: unknown): string | undefined {
  if (typeof given !== 'string' && !(given instanceof Uint8Array)) return `it is ${kindOf(given)}: give its PEM text`
  const text = textOf(given)
  const begun = text.match(begin)?.length ?? 0
  if (begun === 0) return problemWithout(text, given)
  if (text.includes(String.raw`-----\n`))
    return String.raw`it has \n, a backslash and an n, where a line ends: put line breaks there, as text.replaceAll('\\n', '\n') does`
  const found = text.match(certificate) ?? []
  const damaged = found.findIndex((pem) => !isCertificate(pem))
  if (found.length === begun && damaged === -1) return undefined
  const which =
    begun === 1 ? 'its certificate' : `certificate ${damaged === -1 ? begun : damaged + 1} of ${begun} in it`
  return `${which} is damaged or lacks its end: copy the whole file again`
}

/** Of what holds no certificate as PEM. */
function problemWithout(text: string, given: string | Uint8Array): string {
  if (text.trim() === '') return 'it is empty'
  const [, label] = /-----BEGIN ([A-Z0-9 ]{1,40})-----/u.exec(text) ?? []
  if (label !== undefined) return `it is a ${label.toLowerCase()}: give the certificate of the authority`
  if (text.includes('\0') && /C\0?E\0?R\0?T\0?I\0?F/u.test(text)) return 'it is UTF-16: save it as UTF-8'
  if (given instanceof Uint8Array && isCertificate(given))
    return 'it is a certificate as DER: convert it with openssl x509 -inform der'
  if (/^\s*<(?:!doctype|html|\?xml|\w)/iu.test(text)) return 'it is a page of HTML: download the certificate itself'
  if (
    typeof given === 'string' &&
    /^(?:file:)?[^\n]{1,4096}$/u.test(text) &&
    /[/\\]|\.\w{1,5}$/u.test(text) &&
    !isBase64(text)
  )
    return 'it looks like a path: give what the file holds, readFileSync(path)'
  return 'it holds no -----BEGIN CERTIFICATE-----'
}

/** Of a length that no path has by chance: the inside of a certificate. */
function isBase64(text: string): boolean {
  return text.length > 300 && /^[\w+/=\s]+$/u.test(text)
}

function kindOf(given: unknown): string {
  if (given === null || given === undefined) return String(given)
  if (given instanceof X509Certificate) return 'an X509Certificate'
  return typeof given === 'object' ? 'an object' : `a ${typeof given}`
}

function isCertificate(given: string | Uint8Array): boolean {
  try {
    return new X509Certificate(given).raw.length > 0
  } catch {
    return false
  }
}

function textOf(given: unknown): string {
  return given instanceof Uint8Array ? Buffer.from(given).toString('latin1') : String(given)
}
