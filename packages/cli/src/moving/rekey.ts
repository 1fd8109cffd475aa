/**
 * `owner-sso rekey`: every record under the new key, where it is.
 */
import { rekey } from '@owner-sso/core'
import type { Call } from '../manual/command.ts'
import type { rekey as rekeyCommand } from '../manual/manual.ts'
import { usageError } from '../failure/command-error.ts'
import { encryptionKeys } from '../settings/encryption-key.ts'
import { type OpenStore, withStore } from '../tokens/open-store.ts'
import { printJson, printNote } from '../terminal/output.ts'
import { progressBar } from '../terminal/progress-bar.ts'
import { counted } from '../terminal/wording.ts'
import type { Settings } from '../settings/settings.ts'

export async function run({ settings }: Call<typeof rekeyCommand>): Promise<void> {
  if ((encryptionKeys() ?? []).length < 2) {
    throw usageError(
      'Two keys are needed, the new one and the old one.',
      'Set OWNER_SSO_ENCRYPTION_KEY to NEW_KEY,OLD_KEY here and wherever the store is used, then run this again.',
    )
  }
  const address = settings.store.value
  await withStore(address, settings, {}, async (all) => {
    await withStore(address, settings, { newestKeyAlone: true }, (newest) => change(all, newest, settings))
  })
}

async function change(all: OpenStore, newest: OpenStore, { json }: Settings): Promise<void> {
  const bar = progressBar('Sealing')
  let rewritten = 0
  const onProgress = (progress: { readonly rewritten: number }): void => {
    rewritten = progress.rewritten
    bar.advance()
  }
  const outcome = (): string => `${counted(rewritten, 'record')} of ${all.shown} sealed with the new key`
  try {
    await rekey(all.store, newest.store, { onProgress })
  } catch (error) {
    bar.end()
    printNote(`${outcome()}, and not all there are: keep the old key, and run this again once the error is mended.`)
    throw error
  }
  bar.end()
  if (json) await printJson({ store: all.shown, rewritten })
  printNote(`${outcome()}. None is left under an old key.`)
  printNote(
    'The old key may go once every process that uses the store has the new key first: then take it out of OWNER_SSO_ENCRYPTION_KEY.',
  )
}
