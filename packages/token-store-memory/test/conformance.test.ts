/** The rules that every token store keeps. */
import { describe, test } from '@jest/globals'
import { tokenStoreConformance } from '@owner-sso/token-store-conformance'
import { memoryTokenStore } from '../src/index.ts'

describe('memoryTokenStore', () => {
  tokenStoreConformance({ describe, test, createStore: memoryTokenStore, accounts: true, watch: true })
})
