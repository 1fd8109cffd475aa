import { describe, test } from '@jest/globals'
import { tokenStoreConformance } from '@owner-sso/token-store-conformance'
import { storeOn } from '../src/file-token-store.ts'
import { fileTokenStore } from '../src/index.ts'
import { killedWriter } from './killed-writer.ts'
import { withoutHardLinks } from './faulty-disk.ts'
import { scratchFolders } from './scratch-folder.ts'

const folders = scratchFolders()

describe('fileTokenStore', () => {
  const paths = new WeakMap<object, string>()
  const open = (path: string): ReturnType<typeof fileTokenStore> => {
    const store = fileTokenStore({ path })
    paths.set(store, path)
    return store
  }
  tokenStoreConformance({
    describe,
    test,
    createStore: () => open(folders.make()),
    reopen: (store) => open(paths.get(store) ?? ''),
    accounts: true,
    watch: true,
    crash: async (store, account) => (await killedWriter(paths.get(store) ?? '', account, 10)).acknowledged,
  })
})

describe('fileTokenStore where hard links are missing', () => {
  const paths = new WeakMap<object, string>()
  const open = (path: string): ReturnType<typeof fileTokenStore> => {
    const store = storeOn(withoutHardLinks, { path })
    paths.set(store, path)
    return store
  }
  tokenStoreConformance({
    describe,
    test,
    createStore: () => open(folders.make()),
    reopen: (store) => open(paths.get(store) ?? ''),
    accounts: true,
    watch: true,
    crash: async (store, account) =>
      (await killedWriter(paths.get(store) ?? '', account, 10, { hardLinks: false })).acknowledged,
  })
})
