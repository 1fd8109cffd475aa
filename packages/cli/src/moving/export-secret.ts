/**
 * What an export is sealed with: the encryption key where there is one, else a passphrase that is asked for.
 */
import { usageError } from '../failure/command-error.ts'
import { encryptionKeys } from '../settings/secrets.ts'
import { askSecret, canAsk } from '../terminal/prompts.ts'
import type { Settings } from '../settings/settings.ts'
import { opened, type Sealed, type SealedWith } from './export-file.ts'
import type { ExportFile } from './shapes.ts'

/** @throws CommandError where there is no key and nobody can be asked */
export async function newSecret(settings: Settings): Promise<readonly [SealedWith, string | Uint8Array]> {
  const [key] = encryptionKeys() ?? []
  if (key !== undefined) return ['key', key]
  if (!canAsk(settings)) {
    throw usageError(
      'No key is set, and no passphrase can be asked for here.',
      'Set OWNER_SSO_ENCRYPTION_KEY (openssl rand -base64 32), or run this in a terminal.',
    )
  }
  const passphrase = await askSecret('A passphrase for the export')
  if (passphrase !== (await askSecret('The same again'))) {
    throw usageError('The two passphrases differ.', 'Nothing was written: run it again.')
  }
  return ['passphrase', passphrase]
}

/** The export behind a seal. @throws CommandError where it does not open */
export async function unsealed(sealed: Sealed, settings: Settings): Promise<ExportFile> {
  if (sealed.with === 'passphrase') {
    if (canAsk(settings)) return opened(sealed, await askSecret('Passphrase of the export'))
    throw usageError('The export is sealed with a passphrase.', 'Run this in a terminal, with the file as argument.')
  }
  const keys = encryptionKeys()
  if (keys === undefined) {
    throw usageError(
      'The export is sealed with a key.',
      'Set OWNER_SSO_ENCRYPTION_KEY to the key that it was made with.',
    )
  }
  // Newest first, as everywhere: the last of them says what is wrong.
  for (const key of keys.slice(0, -1)) {
    try {
      return opened(sealed, key)
    } catch {
      continue
    }
  }
  return opened(sealed, keys.at(-1) ?? '')
}
