/**
 * The code verifier, its challenge and `state`: what one login makes up itself (interface document, "Code verifier and
 * code challenge"; RFC 7636).
 */
import { hash, randomBytes, randomInt } from 'node:crypto'
import type { CodeChallengeEncoding } from '../service/profiles.ts'

const verifierLength = 86
const alphanumeric = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** 86 random characters of A–Z, a–z, 0–9, each equally likely (`randomInt` rejects what would bias them). */
export function randomCodeVerifier(): string {
  return Array.from({ length: verifierLength }, () => alphanumeric[randomInt(alphanumeric.length)]).join('')
}

/**
 * The code challenge of a verifier, with the method that the document calls S256.
 *
 * The document's reference computation encodes the hexadecimal text of the digest (86 characters); RFC 7636 section 4.2
 * encodes the digest itself (43 characters). Services differ, so it is an option.
 */
export function codeChallenge(codeVerifier: string, encoding: CodeChallengeEncoding): string {
  if (encoding === 'raw-digest') return hash('sha256', codeVerifier, 'base64url')
  return Buffer.from(hash('sha256', codeVerifier, 'hex'), 'ascii').toString('base64url')
}

/** A `state` of 256 random bits, in characters that need no escaping. */
export function randomState(): string {
  return randomBytes(32).toString('base64url')
}
