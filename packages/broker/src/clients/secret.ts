/**
 * A client's secret: 256 random bits. Nobody can guess it, so a plain SHA-256 of it is what is kept (`key-finder.ts`).
 */
import { createHash, randomBytes } from 'node:crypto'

/** Tells people, and programs that search for leaked secrets, what it is. */
const prefix = 'owner-sso-'

export function newSecret(): string {
  return prefix + randomBytes(32).toString('base64url')
}

/** 64 hexadecimal digits in lower case. @throws TypeError */
export function sha256(text: string): string {
  if (typeof text !== 'string') throw new TypeError('secret must be text')
  return createHash('sha256').update(text).digest('hex')
}
