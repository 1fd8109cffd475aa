/**
 * The keys that records are sealed with, out of `OWNER_SSO_ENCRYPTION_KEY`.
 */
import { usageError } from '../failure/command-error.ts'

const variable = 'OWNER_SSO_ENCRYPTION_KEY'

/**
 * Keys of 32 bytes in base64, separated by commas or spaces: the first seals, all open, while a key is being changed.
 *
 * @returns undefined where none is set
 * @throws CommandError for anything else; its message quotes nothing
 */
export function encryptionKeys(): readonly Uint8Array[] | undefined {
  const text = process.env[variable]?.trim()
  if (!text) return undefined
  const keys = text
    .split(/[\s,]+/u)
    .filter(Boolean)
    .map((key) => Buffer.from(key, 'base64'))
  if (keys.length > 0 && keys.every((key) => key.byteLength === 32)) return keys
  throw usageError(`${variable} is not a 32-byte key in base64.`, 'Make one with: openssl rand -base64 32')
}
