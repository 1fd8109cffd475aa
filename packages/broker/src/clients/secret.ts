/**
 * A client's secret: 256 random bits. Nobody can guess it, so a plain SHA-256 of it is what is kept.
 */
import { createHash, randomBytes } from 'node:crypto'
import { requireOption } from '../given/given.ts'

/** Tells people, and programs that search for leaked secrets, what it is. */
const prefix = 'owner-sso-'

export function newSecret(): string {
  return prefix + randomBytes(32).toString('base64url')
}

/** 64 hexadecimal digits in lower case. @throws TypeError */
export function sha256(text: string): string {
  requireOption(typeof text === 'string', 'secret must be text', text)
  return createHash('sha256').update(text).digest('hex')
}
