import { expect, test } from '@jest/globals'
import { createTable, sqlTokenStore } from '../src/index.ts'

const client = { query: async () => ({ rows: [] }) }

test.each<[call: string, typed: string, meant: string, (typo: object) => unknown]>([
  ['sqlTokenStore', 'encryptionkey', 'encryptionKey', (typo) => sqlTokenStore({ client, ...typo })],
  ['sqlTokenStore', 'tablename', 'tableName', (typo) => sqlTokenStore({ client, ...typo })],
  ['createTable', 'tabelName', 'tableName', (typo) => createTable(client, typo)],
])('%s refuses a mistyped option: %s for %s', async (call, typed, meant, take) => {
  const taken = async (): Promise<unknown> => take({ [typed]: 'kept' })
  await expect(taken()).rejects.toThrow(TypeError)
  await expect(taken()).rejects.toThrow(`${typed} is not an option of ${call}. Did you mean ${meant}?`)
})

test('sqlTokenStore() says what it takes', () => {
  expect(() => sqlTokenStore(undefined as never)).toThrow(
    new TypeError('sqlTokenStore takes an object with client, dialect, tableName, encryptionKey, subscriber, notify'),
  )
})
