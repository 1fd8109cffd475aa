/** Where secrets may travel, and what is printed of what holds them. */
import { inspect } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import { isLoopback, mayCarrySecrets, verificationProblem } from '../../../core/src/support/verification.ts'
import { tokenSet } from '../../src/issuer/token-set.ts'
import { redacted, secretiveKind, storable, wholeOf } from '../../src/support/redaction.ts'

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

describe('secrets travel', () => {
  it.each([
    ['https://a.example', true, false],
    ['http://a.example', false, false],
    ['http://localhost:1', true, true],
    ['http://[::1]:1', true, true],
    ['http://127.0.0.1', true, true],
    ['http://127.255.255.255', true, true],
    ['https://127.0.0.1', true, true],
    ['http://127.0.0.1.example', false, false],
    ['http://localhost.example', false, false],
    ['ftp://localhost', false, true],
  ])('to %s: %s, which is on this machine: %s', (address, may, isHere) => {
    expect([mayCarrySecrets(new URL(address)), isLoopback(new URL(address))]).toEqual([may, isHere])
  })

  it('to nobody whom this process, or the agent, was told to trust unseen', () => {
    const [there, here] = [new URL(authUrl), new URL('https://localhost')]
    const trusting = { options: { rejectUnauthorized: false } }
    const careful: unknown[] = [undefined, null, {}, { options: {} }, { options: { rejectUnauthorized: true } }]
    for (const agent of careful) expect(verificationProblem(there, agent)).toBeUndefined()
    expect(verificationProblem(there, trusting)).toContain('its agent has rejectUnauthorized: false')
    expect(verificationProblem(here, trusting)).toBeUndefined()
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED']
    try {
      process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
      expect(verificationProblem(there)).toContain('NODE_TLS_REJECT_UNAUTHORIZED is 0')
      expect(verificationProblem(here)).toBeUndefined()
      process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '1'
      expect(verificationProblem(there)).toBeUndefined()
    } finally {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before
    }
  })
})

it('an object with secrets shows its harmless fields, stores all, and takes no other prototype', () => {
  const kind = secretiveKind('Thing', ['shown'])
  const data = JSON.parse('{"shown":1,"secret":"s","__proto__":{"polluted":1},"toJSON":"x"}') as object
  const hidden = redacted(data, kind)
  expect([Object.keys(hidden), Reflect.get(hidden, 'secret')]).toEqual([['shown'], 's'])
  expect(JSON.stringify(hidden)).toBe('{"shown":1,"secret":"s"}')
  expect(inspect(hidden)).toBe("Thing { shown: 1, secret: '[redacted]' }")
  expect(inspect({ hidden }, { customInspect: true })).not.toContain("'s'")
  for (const whole of [wholeOf(hidden), wholeOf(data), storable(hidden, kind)]) {
    expect(Object.keys(whole)).toEqual(['shown', 'secret'])
    expect(Object.getPrototypeOf(whole)).toBe(Object.prototype)
    expect(Reflect.get(whole, 'polluted')).toBeUndefined()
  }
  expect(inspect(storable(hidden, kind))).toBe("Thing { shown: 1, secret: '[redacted]' }")
  Object.assign(hidden, { secret: 't' })
  expect(JSON.stringify(hidden)).toContain('"t"')
})
