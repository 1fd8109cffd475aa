/**
 * The fields that a sign-in form posts, read from a body that anybody may have written.
 */

/** What each field is called in the body. */
export interface FieldNames {
  readonly identity: string
  readonly credential: string
  readonly passcode: string
  readonly factor: string
  readonly backupCode: string
  readonly callbackUrl: string
}

/** The fields of one request: empty where one is missing, not text, or far too long. */
export type RequestFields = FieldNames

/** Characters of a field; beyond it nothing is genuine. */
const longestField = 4096

/** Reads the body. Never the query: addresses are logged and kept, and these are secrets. */
export function requestFields(body: unknown, names: FieldNames): RequestFields {
  return {
    identity: textIn(body, names.identity).trim(),
    // As typed: a space may be part of a password.
    credential: textIn(body, names.credential),
    // Text, because leading zeros count; without the spaces that people type between the groups.
    passcode: withoutSpaces(textIn(body, names.passcode)),
    factor: textIn(body, names.factor),
    backupCode: withoutSpaces(textIn(body, names.backupCode)),
    callbackUrl: textIn(body, names.callbackUrl).trim(),
  }
}

function textIn(body: unknown, name: string): string {
  if (typeof body !== 'object' || body === null || !Object.hasOwn(body, name)) return ''
  const value: unknown = Reflect.get(body, name)
  return typeof value === 'string' && value.length <= longestField ? value : ''
}

function withoutSpaces(text: string): string {
  return text.replaceAll(/\s/gu, '')
}
