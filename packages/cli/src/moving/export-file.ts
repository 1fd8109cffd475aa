/**
 * The file that `owner-sso export` writes: the refresh tokens of accounts, sealed with AES-256-GCM under the encryption key or a
 * passphrase, or plain where that is asked for.
 */
import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto'
import { CommandError, exitCodes } from '../failure/command-error.ts'
import type { ExportFile } from './shapes.ts'

/** What is exported of an account: what another program needs to refresh. */
export interface ExportedTokens {
  readonly refresh_token: string
  /** While it lives, with its end in seconds since the epoch. */
  readonly access_token?: string
  readonly expires_at?: number
  readonly auth_url: string
  /** Seconds since the epoch. */
  readonly obtained_at: number
  /** What happened to the account, as its record tells it; it goes on from there after the import. */
  readonly history?: string
}

export type ExportedAccounts = Readonly<Record<string, ExportedTokens>>

/** What opens it. */
export type SealedWith = 'key' | 'passphrase'

export interface Sealed {
  readonly with: SealedWith
  /** 16 random bytes, base64url, as are those below: of the key derivation. */
  readonly salt: string
  readonly nonce: string
  /** Ciphertext and tag. */
  readonly data: string
}

export function plainExport(accounts: ExportedAccounts): ExportFile {
  return { kind: 'owner-sso export', version: 1, accounts }
}

export function sealedExport(accounts: ExportedAccounts, how: SealedWith, secret: string | Uint8Array): ExportFile {
  const [salt, nonce] = [randomBytes(16), randomBytes(12)]
  const cipher = createCipheriv('aes-256-gcm', keyOf(secret, salt), nonce)
  const data = Buffer.concat([cipher.update(JSON.stringify(accounts), 'utf8'), cipher.final(), cipher.getAuthTag()])
  const [saltText, nonceText, dataText] = [salt, nonce, data].map((bytes) => bytes.toString('base64url'))
  const sealed = { with: how, salt: saltText, nonce: nonceText, data: dataText }
  return { kind: 'owner-sso export', version: 1, sealed }
}

/** @returns the same file, plain @throws CommandError for another secret, or a file that was changed */
export function opened({ salt, nonce, data, with: how }: Sealed, secret: string | Uint8Array): ExportFile {
  try {
    const bytes = Buffer.from(data, 'base64url')
    const key = keyOf(secret, Buffer.from(salt, 'base64url'))
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'), { authTagLength: 16 })
    decipher.setAuthTag(bytes.subarray(-16))
    const text = Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()]).toString('utf8')
    return plainExport(JSON.parse(text))
  } catch {
    throw new CommandError(
      exitCodes.usage,
      `This ${how} does not open the export, or the file was changed.`,
      how === 'key' ? 'Set OWNER_SSO_ENCRYPTION_KEY to the key of the export.' : 'Try again with its passphrase.',
    )
  }
}

/** Whether the sealed part of a file is one. */
export function isSealed(value: unknown): value is Sealed {
  if (typeof value !== 'object' || value === null) return false
  const texts = ['salt', 'nonce', 'data'].map((name) => Object.getOwnPropertyDescriptor(value, name)?.value)
  const how = Object.getOwnPropertyDescriptor(value, 'with')?.value
  return texts.every((text) => typeof text === 'string') && (how === 'key' || how === 'passphrase')
}

/** A fifth of a second for each guess (RFC 7914: N = 2^16, r = 8, 64 MiB). */
function keyOf(secret: string | Uint8Array, salt: Uint8Array): Buffer {
  return scryptSync(secret, salt, 32, { N: 2 ** 16, r: 8, p: 1, maxmem: 2 ** 27 })
}
