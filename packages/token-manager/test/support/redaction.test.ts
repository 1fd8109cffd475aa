/** What is printed of an object that holds secrets, and what is stored of it. */
import { inspect } from 'node:util'
import { expect, it } from '@jest/globals'
import { redacted, secretiveKind, tokenSet, wholeOf } from '../../src/support.ts'

const authUrl = 'https://auth.example.com'

it('a printed token set shows when it ends and where it is from, and no token', () => {
  const shown = inspect(
    tokenSet({
      access_token: 'secret-access',
      refresh_token: 'secret-refresh',
      id_token: 'secret-id',
      token_type: 'Bearer',
      expires_in: 300,
      expires_at: 1_900_000_000,
      auth_url: authUrl,
    }),
  )
  for (const fact of ['TokenSet', 'Bearer', 'expires_in: 300', 'expires_at: 1900000000', authUrl])
    expect(shown).toContain(fact)
  expect(shown).not.toContain('secret')
})

it('an object with secrets shows its harmless fields, stores all, and takes no other prototype', () => {
  const kind = secretiveKind('Thing', ['shown'])
  const data = JSON.parse('{"shown":1,"secret":"s","__proto__":{"polluted":1},"toJSON":"x"}') as object
  const hidden = redacted(data, kind)
  expect([Object.keys(hidden), Reflect.get(hidden, 'secret')]).toEqual([['shown'], 's'])
  expect(JSON.stringify(hidden)).toBe('{"shown":1,"secret":"s"}')
  expect(inspect(hidden)).toBe("Thing { shown: 1, secret: '[redacted]' }")
  expect(inspect({ hidden }, { customInspect: true })).not.toContain("'s'")
  for (const whole of [wholeOf(hidden), wholeOf(data)]) {
    expect(Object.keys(whole)).toEqual(['shown', 'secret'])
    expect(Object.getPrototypeOf(whole)).toBe(Object.prototype)
    expect(Reflect.get(whole, 'polluted')).toBeUndefined()
  }
  Object.assign(hidden, { secret: 't' })
  expect(JSON.stringify(hidden)).toContain('"t"')
})
