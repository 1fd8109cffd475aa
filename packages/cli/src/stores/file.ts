/**
 * `file:PATH`: a folder of this machine.
 */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { storePath } from '../machine/folders.ts'
import type { StoreKind } from './store-kind.ts'

export const fileStore: StoreKind = {
  forms: ['file:PATH'],
  parse(address) {
    if (!address.startsWith('file:')) return undefined
    const path = address.startsWith('file://') ? pathOfUrl(address) : address.slice('file:'.length)
    return path === undefined || path === '' || isOtherUrl(path) ? undefined : storePath(path)
  },
  exists: existsSync,
  shown: (path) => `file:${path}`,
  async open(path, { encryptionKey, keyring }) {
    const { fileTokenStore } = await import('@owner-sso/token-store-file')
    const folder = fileTokenStore({ path, encryptionKey })
    const opened =
      keyring === undefined
        ? { store: folder, sealed: encryptionKey !== undefined }
        : await (await import('../keyring/keyring-folder.ts')).openKeyringFolder(path, folder, keyring)
    return {
      ...opened,
      requireWritable: async () => (await import('./folder-check.ts')).requireWritableFolder(path),
      check: async () => (await import('./folder-check.ts')).checkFolder(path),
    }
  },
}

/** `file:https://…` is a mistake, and no folder called `https:`. */
const isOtherUrl = (path: string): boolean => /^[a-z][a-z\d+.-]+:\/\//iu.test(path)

function pathOfUrl(url: string): string | undefined {
  try {
    return fileURLToPath(url)
  } catch {
    return undefined
  }
}
