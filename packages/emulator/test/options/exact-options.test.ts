/** Each limit at it and one beyond it: options, and what they are where nothing is said. */
import { describe, expect, it } from '@jest/globals'
import { checkOptions } from '../../src/options/check-options.ts'
import { parseEmulatorOptions } from '../../src/options/parse-options.ts'
import { scenarios } from '../../src/switches/scenarios.ts'
import {
  base32,
  checkEach,
  isArrayOf,
  isRecord,
  isScalar,
  isUrl,
  oneOf,
  orFalse,
  orNull,
  text,
} from '../../src/options/checks.ts'

it('each scenario is what the last release said: a change of it is one for its users', () => {
  expect(scenarios).toMatchSnapshot()
})

describe('a check', () => {
  it('says what is wrong, with the path to it', () => {
    const checks = { tls: oneOf(true, 'old') }
    expect(() => checkEach('option', '', [], checks)).toThrow('The options must be an object')
    expect(() => checkEach('option', 'a.b.', null, checks)).toThrow('Option a.b must be an object')
    expect(() => checkEach('option', 'a.', { toString: 1 }, checks)).toThrow('Unknown option a.toString')
    expect(() => checkEach('field', 'a.', { tls: false }, checks)).toThrow("Field a.tls must be true or 'old'")
    expect(() => checkEach('field', 'a.', { tls: undefined }, checks)).not.toThrow()
  })

  it.each<[string, (value: unknown) => boolean, readonly unknown[], readonly unknown[]]>([
    ['text', text().accepts, ['x'], ['', 1]],
    ['false or text', orFalse(text()).accepts, [false, 'x'], [true, null, '']],
    ['null or text', orNull(text()).accepts, [null, 'x'], [undefined, false, '']],
    ['a record', isRecord, [{}], [[], null, 'x']],
    ['a list of scalars', (value) => isArrayOf(value, isScalar), [[], [1, 'x']], [[true], {}, '']],
    ['an address', isUrl, ['a:b', 'https://x'], ['x', 1, new URL('https://x')]],
    ['a secret in base32', base32().accepts, ['MY', 'JBSWY3DP'], ['', 'A', '1', 7]],
  ])('of %s takes what it is, and nothing else', (_what, accepts, good, bad) => {
    expect(good.map(accepts)).toEqual(good.map(() => true))
    expect(bad.map(accepts)).toEqual(bad.map(() => false))
  })
})

/** What is said to be wrong with options. */
function problemOf(options: object): string | undefined {
  try {
    checkOptions(options)
  } catch (error) {
    return (error as TypeError).message
  }
  return undefined
}

it.each<[object, string | undefined]>([
  [{ tlsMinVersion: 'TLSv1.2', tlsMaxVersion: 'TLSv1.2' }, undefined],
  [{ tlsMinVersion: 'TLSv1.3' }, undefined],
  [{ tlsMaxVersion: 'TLSv1.2' }, undefined],
  [{ tlsMinVersion: 'TLSv1.3', tlsMaxVersion: 'TLSv1.2' }, 'tlsMinVersion must not be above tlsMaxVersion'],
  [{ mfaAt: 'token-exchange' }, undefined],
  [{ mfaAt: 'toString' }, 'Option mfaAt must be'],
  [{ mfaAt: 7 }, 'Option mfaAt must be'],
])('the options %j are right, or said to be wrong: %s', (options, problem) => {
  expect(String(problemOf(options))).toContain(String(problem))
})

it.each<[object, boolean]>([
  [{ name: 'Phone', totpSecret: 'MY' }, true],
  [{ id: 'x', name: 'Phone', totpSecret: 'MY' }, true],
  [{ id: '', name: 'Phone', totpSecret: 'MY' }, false],
  [{ id: 7, name: 'Phone', totpSecret: 'MY' }, false],
  [{ name: '', totpSecret: 'MY' }, false],
  [{ name: 'Phone', totpSecret: '1' }, false],
  [['Phone'], false],
])('a factor of an account may be %j: %s', (factor, isOne) => {
  const account = { identity: 'a@example.com', credential: 'x', factors: [factor] }
  const problem = 'Option accounts[0].factors must be an array of { id?, name, totpSecret }'
  expect(problemOf({ accounts: [account] })).toBe(isOne ? undefined : problem)
})

it('backup codes have nine characters, and no e-mail is two accounts’', () => {
  const check =
    (...accounts: readonly object[]) =>
    () =>
      checkOptions({ accounts } as Parameters<typeof checkOptions>[0])
  const ann = { identity: 'ann@example.com', credential: 'x' }
  expect(check({ ...ann, backupCodes: ['123456789'] })).not.toThrow()
  for (const code of ['12345678', '1234567890', 123_456_789])
    expect(check({ ...ann, backupCodes: [code] })).toThrow('backupCodes')
  expect(check(ann, { ...ann, identity: ' Ann@example.com' })).toThrow('accounts[1].identity is another account')
  expect(check({ identity: 'ann@example.com' })).toThrow('Option accounts[0].credential is missing')
  expect(check({ credential: 'x' })).toThrow('Option accounts[0].identity is missing')
  for (const region of ['home', 'regional']) expect(check({ ...ann, region })).not.toThrow()
  expect(check({ ...ann, region: '' })).toThrow("region must be 'home' or 'regional'")
})

it('every default is what the last release had: a change of it is one for its users', () => {
  expect(parseEmulatorOptions()).toMatchSnapshot()
})
