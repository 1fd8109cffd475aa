/**
 * `owner-sso rekey`: every record under the new key, where it is.
 */
import { rekey } from '@owner-sso/core'
import type { Call } from '../command-line/command.ts'
import type { rekey as rekeyCommand } from '../command-line/manual.ts'
import { usageError } from '../command-line/command-error.ts'
import { encryptionKeys } from '../settings/encryption-key.ts'
import { openStore, requireExistence } from './open-store.ts'
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
  const options = { ca: settings.ca?.value, keyring: settings.keyring }
  const all = await openStore(settings.store.value, options)
  try {
    requireExistence(all)
    const newest = await openStore(settings.store.value, { ...options, newestKeyAlone: true })
    try {
      await change(all.store, newest.store, all.shown, settings)
    } finally {
      await newest.close()
    }
  } finally {
    await all.close()
  }
}

async function change(
  all: Parameters<typeof rekey>[0],
  newest: Parameters<typeof rekey>[1],
  store: string,
  settings: Settings,
): Promise<void> {
  const bar = progressBar('Sealing')
  let rewritten = 0
  const onProgress = (progress: { readonly rewritten: number }): void => {
    rewritten = progress.rewritten
    bar.advance()
  }
  const outcome = (): string => `${counted(rewritten, 'record')} of ${store} sealed with the new key`
  try {
    await rekey(all, newest, { onProgress })
  } catch (error) {
    bar.end()
    printNote(`${outcome()}, and not all there are: keep the old key, and run this again once the error is mended.`)
    throw error
  }
  bar.end()
  if (settings.json) await printJson({ store, rewritten })
  printNote(`${outcome()}. None is left under an old key.`)
  printNote(
    'The old key may go once every process that uses the store has the new key first: then take it out of OWNER_SSO_ENCRYPTION_KEY.',
  )
}
