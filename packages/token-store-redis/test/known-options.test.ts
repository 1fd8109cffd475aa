import { expect, test } from '@jest/globals'
import { redisTokenStore } from '../src/index.ts'

const client = { withCommandOptions: () => ({ get: async () => null, eval: async () => null }) }

test.each([
  ['encryptionkey', 'encryptionKey'],
  ['prefx', 'prefix'],
  ['subcriber', 'subscriber'],
])('redisTokenStore refuses a mistyped option: %s for %s', (typed, meant) => {
  const refused = `${typed} is not an option of redisTokenStore. Did you mean ${meant}?`
  const typo: object = { [typed]: 'owner:' }
  const make = (): unknown => redisTokenStore({ client, ...typo })
  expect(make).toThrow(TypeError)
  expect(make).toThrow(refused)
})

test('redisTokenStore() says what it takes', () => {
  expect(() => redisTokenStore(undefined as never)).toThrow(
    new TypeError('redisTokenStore takes an object with client, prefix, encryptionKey, subscriber'),
  )
})
