import { expect, test } from '@jest/globals'
import { fileTokenStore } from '../src/index.ts'
import { scratchFolders } from './scratch-folder.ts'

const folders = scratchFolders()

test('a mistyped encryptionKey is refused: the files would be plain text', () => {
  const typo = { encryptionkey: new Uint8Array(32) }
  expect(() => fileTokenStore({ path: folders.make(), ...typo })).toThrow(
    new TypeError(
      'encryptionkey is not an option of fileTokenStore. Did you mean encryptionKey? There are path, encryptionKey',
    ),
  )
})

test('what is no object of options is refused, with what one has', () => {
  expect(() => fileTokenStore('/var/lib/tokens' as never)).toThrow(
    new TypeError('fileTokenStore takes an object with path, encryptionKey'),
  )
})
