/**
 * The fields that a sign-in form posts, read from a body that anybody may have written.
 */
import { typedCode, typedCredential, typedEmail } from '@owner-sso/core'

/** What the fields of e-mail and password are called in the body. */
export interface FieldNames {
  readonly identity: string
  readonly credential: string
}

/** Characters of each field at most; beyond that nothing is genuine. An e-mail's are those of RFC 5321. */
const longest = { identity: 320, credential: 1024, passcode: 64, factor: 256, backupCode: 64, callbackUrl: 8192 }

type Field = keyof typeof longest

const formFields = ['identity', 'credential', 'passcode', 'factor', 'backupCode'] as const

/** The fields of one request: empty where one is missing, not text, or far too long. */
export interface RequestFields extends Readonly<Record<Field, string>> {
  /** Those that came as something else, such as a number in JSON. */
  readonly notText: readonly (typeof formFields)[number][]
}

/** Reads the body. Never the query: addresses are logged and kept, and these are secrets. */
export function requestFields(body: unknown, names: FieldNames): RequestFields {
  const nameOf = (field: Field): string => (field === 'identity' || field === 'credential' ? names[field] : field)
  const text = (field: Field): string => textIn(body, nameOf(field), longest[field])
  return {
    identity: typedEmail(text('identity')),
    credential: typedCredential(text('credential')),
    // Text, because leading zeros count.
    passcode: typedCode(text('passcode')),
    factor: text('factor'),
    backupCode: typedCode(text('backupCode')),
    callbackUrl: text('callbackUrl').trim(),
    notText: formFields.filter((field) => typeof (valueIn(body, nameOf(field)) ?? '') !== 'string'),
  }
}

function valueIn(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null && Object.hasOwn(body, name) ? Reflect.get(body, name) : undefined
}

function textIn(body: unknown, name: string, atMost: number): string {
  const value = valueIn(body, name)
  return typeof value === 'string' && value.length <= atMost ? value : ''
}
