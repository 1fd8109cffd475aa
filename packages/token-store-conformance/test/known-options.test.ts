import { expect, test } from '@jest/globals'
import { tokenStoreConformance } from '../src/index.ts'
import { claiming } from './broken-stores.ts'

test('a mistyped claim is refused: its rules would not be tried', () => {
  const runner = { describe: () => undefined, test: () => undefined }
  const typo: object = { reopn: () => undefined }
  expect(() => tokenStoreConformance({ ...runner, ...claiming(), ...typo })).toThrow(
    new TypeError(
      'reopn is not an option of tokenStoreConformance. Did you mean reopen? There are describe, test, createStore, reopen, accounts, watch, crash, closeStore, histories',
    ),
  )
})
