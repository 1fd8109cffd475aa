/**
 * The file that `owner-sso export` writes: the refresh tokens of accounts, sealed with AES-256-GCM under the encryption key where there
 * is one, else under a passphrase that is asked for; or plain where that is asked for.
 */
import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto'
import { usageError } from '../failure/command-error.ts'
import { encryptionKeys } from '../settings/secrets.ts'
import { askSecret, canAsk } from '../terminal/prompts.ts'
import type { Settings } from '../settings/settings.ts'
import { isFields } from './found-tokens.ts'

export interface ExportFile {
  readonly kind: 'owner-sso export'
  readonly version: 1
  readonly accounts?: Readonly<Record<string, unknown>>
  readonly sealed?: unknown
}

/** What is exported of an account: what another program needs to refresh. Times are seconds since the epoch. */
export interface ExportedTokens {
  readonly refresh_token: string
  /** While it lives. */
  readonly access_token?: string
  readonly expires_at?: number
  readonly auth_url: string
  readonly obtained_at: number
  /** What happened to the account, as its record tells it; it goes on from there after the import. */
  readonly history?: string
}

type ExportedAccounts = Readonly<Record<string, ExportedTokens>>
type Secret = string | Uint8Array

interface Sealed {
  readonly with: 'key' | 'passphrase'
  /** 16 random bytes, base64url, as are those below: of the key derivation. */
  readonly salt: string
  readonly nonce: string
  readonly data: string
}

export function plainExport(accounts: ExportedAccounts): ExportFile {
  return { kind: 'owner-sso export', version: 1, accounts }
}

export function sealedExport(accounts: ExportedAccounts, how: Sealed['with'], secret: Secret): ExportFile {
  const [salt, nonce] = [randomBytes(16), randomBytes(12)]
  const cipher = createCipheriv('aes-256-gcm', keyOf(secret, salt), nonce)
  const data = Buffer.concat([cipher.update(JSON.stringify(accounts), 'utf8'), cipher.final(), cipher.getAuthTag()])
  const [saltText, nonceText, dataText] = [salt, nonce, data].map((bytes) => bytes.toString('base64url'))
  const sealed = { with: how, salt: saltText, nonce: nonceText, data: dataText }
  return { kind: 'owner-sso export', version: 1, sealed }
}

/** What an export is sealed with. @throws CommandError where there is no key and nobody can be asked */
export async function newSecret(settings: Settings): Promise<readonly [Sealed['with'], Secret]> {
  const [key] = encryptionKeys() ?? []
  if (key !== undefined) return ['key', key]
  if (!canAsk(settings)) {
    throw usageError(
      'No key is set, and no passphrase can be asked for here.',
      'Set OWNER_SSO_ENCRYPTION_KEY (openssl rand -base64 32), or run this in a terminal.',
    )
  }
  const passphrase = await askSecret('A passphrase for the export')
  if (passphrase === (await askSecret('The same again'))) return ['passphrase', passphrase]
  throw usageError('The two passphrases differ.', 'Nothing was written: run it again.')
}

export function isSealed(value: unknown): value is Sealed {
  if (!isFields(value)) return false
  const texts = ['salt', 'nonce', 'data'].map((name) => value[name])
  return texts.every((text) => typeof text === 'string') && (value['with'] === 'key' || value['with'] === 'passphrase')
}

/** The export behind a seal, plain. @throws CommandError where it does not open */
export async function unsealed(sealed: Sealed, settings: Settings): Promise<ExportFile> {
  if (sealed.with === 'passphrase') {
    if (!canAsk(settings))
      throw usageError('The export is sealed with a passphrase.', 'Run this in a terminal, with the file as argument.')
    return openedWith([await askSecret('Passphrase of the export')], sealed, 'Try again with its passphrase.')
  }
  const next = 'Set OWNER_SSO_ENCRYPTION_KEY to the key that it was made with.'
  const keys = encryptionKeys()
  if (keys === undefined) throw usageError('The export is sealed with a key.', next)
  return openedWith(keys, sealed, next)
}

function openedWith(secrets: readonly Secret[], { salt, nonce, data, with: how }: Sealed, next: string): ExportFile {
  const bytes = Buffer.from(data, 'base64url')
  for (const secret of secrets) {
    try {
      const key = keyOf(secret, Buffer.from(salt, 'base64url'))
      const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'), { authTagLength: 16 })
      decipher.setAuthTag(bytes.subarray(-16))
      const text = Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()]).toString('utf8')
      return plainExport(JSON.parse(text))
    } catch {
      // The next one may be the right one.
    }
  }
  throw usageError(`This ${how} does not open the export, or the file was changed.`, next)
}

/** A fifth of a second for each guess (RFC 7914: N = 2^16, r = 8, 64 MiB). */
function keyOf(secret: Secret, salt: Uint8Array): Buffer {
  return scryptSync(secret, salt, 32, { N: 2 ** 16, r: 8, p: 1, maxmem: 2 ** 27 })
}
