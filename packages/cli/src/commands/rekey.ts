/**
 * `owner-sso rekey`: every record under the new key, where it is. Plain records are sealed.
 */
import { rekey, withEncryption, StoreError } from '@owner-sso/core'
import { CommandError, exitCodes, usageError } from '../failure/command-error.ts'
import { encryptionKeys } from '../settings/secrets.ts'
import { sealInPlace } from '../keyring/seal-in-place.ts'
import { type OpenStore, withStore } from '../tokens/open-store.ts'
import { printJson, printNote } from '../terminal/output.ts'
import { counted } from '../terminal/wording.ts'
import type { Settings } from '../settings/settings.ts'
import { defineCommand } from './command.ts'

const bothKeys = 'OWNER_SSO_ENCRYPTION_KEY to NEW_KEY,OLD_KEY here and wherever the store is used, then run this again.'

export const command = defineCommand({
  name: 'rekey',
  summary: 'seal the store, or change its key',
  description:
    'Seals every record with the first key of OWNER_SSO_ENCRYPTION_KEY, where it is, while everything goes on: plain ' +
    'ones, and those under another key. To change the key, set OLD_KEY,NEW_KEY everywhere first, then NEW_KEY,OLD_KEY everywhere, then run this command. Says when the ' +
    'old key may go.',
  options: {},
  examples: [
    ['owner-sso rekey', 'after the first key was set: seals what was plain'],
    ['OWNER_SSO_ENCRYPTION_KEY=$NEW_KEY,$OLD_KEY owner-sso rekey', 'changes the key'],
  ],
  async run({ settings }) {
    const keys = encryptionKeys()
    if (keys === undefined) {
      throw usageError(
        'No key is set.',
        `To seal a plain store, set OWNER_SSO_ENCRYPTION_KEY to $(openssl rand -base64 32). To change the key, set ${bothKeys}`,
      )
    }
    await withStore(settings.store.value, settings, { plain: true }, (store) => change(store, keys, settings))
  },
})

async function change({ store, shown }: OpenStore, keys: readonly Uint8Array[], { json }: Settings): Promise<void> {
  const newest = withEncryption(store, keys.slice(0, 1))
  const plain = await sealInPlace(store, newest)
  const sealedAgain = await rekey(withEncryption(store, keys), newest).catch((error: unknown) => {
    const reason = error instanceof StoreError ? error.reason : undefined
    if (reason === 'wrong-key' && keys.length === 1 && plain.records === 0) {
      throw usageError('Two keys are needed, the new one and the old one.', `Set ${bothKeys}`)
    }
    printNote('Not all records are sealed with the new key: keep the old one, and run this again once that is mended.')
    if (reason !== 'not-sealed' || plain.waiting === 0) throw error
    // Whoever sends a refresh may not know the key, and could not store what it brings.
    const message = `${counted(plain.waiting, 'plain record')} left as it is, since a refresh is under way there.`
    throw new CommandError(exitCodes.store, message, 'Run this again in five minutes.', 'ERR_SSO_STORE')
  })
  const rewritten = plain.records + sealedAgain
  if (json) await printJson({ store: shown, rewritten })
  const left = keys.length > 1 ? 'under an old key' : 'without it'
  printNote(`${counted(rewritten, 'record')} of ${shown} sealed with the new key. None is left ${left}.`)
  if (plain.records > 0) {
    printNote(
      `Plain before: ${counted(plain.records, 'record')}. Set OWNER_SSO_ENCRYPTION_KEY wherever the store is used: what is sealed can’t be read without it.`,
    )
  }
  if (keys.length > 1) {
    printNote(
      'The old key may go once every process that uses the store has the new key first: then take it out of OWNER_SSO_ENCRYPTION_KEY.',
    )
  }
}
