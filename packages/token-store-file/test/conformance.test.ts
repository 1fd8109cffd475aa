import { randomBytes } from 'node:crypto'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from '@jest/globals'
import type { TokenStore } from '@owner-sso/token-manager'
import { tokenStoreConformance } from '@owner-sso/token-store-conformance'
import { fileTokenStore } from '../src/index.ts'
import { hashOfAccount } from '@owner-sso/token-manager/support'
import { accountFolder } from '../src/layout.ts'
import { killedWriter } from './killed-writer.ts'
import { scratchFolders } from './scratch-folder.ts'

const folders = scratchFolders()

/** The suite on stores that `open` opens. */
function conformance(
  open: (path: string) => TokenStore,
  options: { readonly histories: number; readonly crash?: (path: string, account: string) => Promise<number> },
): void {
  const { crash, histories } = options
  const paths = new WeakMap<TokenStore, string>()
  const openAt = (path: string): TokenStore => {
    const store = open(path)
    paths.set(store, path)
    return store
  }
  const pathOf = (store: TokenStore): string => paths.get(store) ?? ''
  tokenStoreConformance({
    describe,
    test,
    createStore: () => openAt(folders.make()),
    reopen: (store) => openAt(pathOf(store)),
    accounts: true,
    damage: (store, account) => damaged(pathOf(store), account),
    watch: true,
    histories,
    ...(crash && { crash: (store, account) => crash(pathOf(store), account) }),
  })
}

describe('fileTokenStore', () => {
  conformance((path) => fileTokenStore({ path }), { histories: 25, crash: killed })
})

describe('fileTokenStore with an encryption key', () => {
  const encryptionKey = randomBytes(32)
  conformance((path) => fileTokenStore({ path, encryptionKey }), { histories: 5 })
})

/** In place of every version of its record. */
async function damaged(path: string, account: string): Promise<void> {
  const folder = accountFolder({ root: path, key: hashOfAccount(account) })
  for (const name of await readdir(folder)) await writeFile(join(folder, name), 'damaged')
}

async function killed(path: string, account: string): Promise<number> {
  return (await killedWriter(path, account, 10)).acknowledged
}
