/** One value, one name: an e-mail address in other letters is the same account, anything else is another value. */
import { describe, expect, it } from '@jest/globals'
import { createPseudonyms, madeUp, type Shape } from '../src/masking/pseudonyms.ts'

describe('the name of a value', () => {
  it('is the same for an e-mail address in other letters', () => {
    const pseudonyms = createPseudonyms()
    expect(pseudonyms.nameOf('identity', 'Ann@Example.com', 'client')).toBe('identity.1')
    expect(pseudonyms.nameOf('email', 'ann@example.COM', 'service')).toBe('identity.1')
    expect(pseudonyms.nameOf('login_hint', 'bob@example.com', 'client')).toBe('identity.2')
  })

  it('is another for any other value in other letters', () => {
    const pseudonyms = createPseudonyms()
    expect(pseudonyms.nameOf('code', 'Abcdef', 'service')).toBe('code.1')
    expect(pseudonyms.nameOf('code', 'abcdef', 'service')).toBe('code.2')
    expect(pseudonyms.nameOf('code', 'Abcdef', 'client')).toBe('code.1')
  })

  it('is looked for in text from six characters on', () => {
    const pseudonyms = createPseudonyms()
    pseudonyms.nameOf('code', '12345', 'client')
    pseudonyms.nameOf('code', '123456', 'client')
    pseudonyms.nameOf('text', 'a word of a page', 'client')
    expect(pseudonyms.known()).toEqual([['123456', 'code.2']])
  })
})

describe('the shape of a value', () => {
  it.each<[string, Shape]>([
    ['123456', { length: 6, signs: '', digits: true }],
    ['x123456', { length: 7, signs: '' }],
    ['123456x', { length: 7, signs: '' }],
    ['b-a.b-a', { length: 7, signs: '-.' }],
  ])('%s: %j', (value, shape) => {
    const pseudonyms = createPseudonyms()
    pseudonyms.nameOf('code', value, 'service')
    expect(pseudonyms.shapes()).toEqual({ 'code.1': shape })
    const made = madeUp('code.1', shape)
    expect(made).toHaveLength(shape.length)
    expect(made).toMatch(shape.digits === true ? /^[1-9]+$/u : /^[A-Za-z0-9.-]+$/u)
    for (const sign of shape.signs) expect(made).toContain(sign)
    expect(madeUp('code.1', shape)).toBe(made)
    expect(madeUp('code.2', shape)).not.toBe(made)
  })

  it('is not kept of what the client made up, nor of texts', () => {
    const pseudonyms = createPseudonyms()
    pseudonyms.nameOf('state', 'abcdef', 'client')
    pseudonyms.nameOf('text', 'some words', 'service')
    expect(pseudonyms.shapes()).toEqual({})
    expect(madeUp('code.1', undefined)).toBe('code1')
  })
})

it('a field that goes by several names has one', () => {
  const pseudonyms = createPseudonyms()
  const fields = [
    'identity',
    'login_hint',
    'email',
    'username',
    'credential',
    'password',
    'passcode',
    'passCode',
    'code',
  ]
  expect(fields.map((field) => pseudonyms.nameOf(field, `the value of ${field}`, 'service'))).toEqual([
    'identity.1',
    'identity.2',
    'identity.3',
    'identity.4',
    'credential.1',
    'credential.2',
    'passcode.1',
    'passcode.2',
    'code.1',
  ])
})

it('what was masked as a part of a text is neither looked for nor made up again', () => {
  const pseudonyms = createPseudonyms()
  for (const field of ['text', 'script', 'style', 'name', 'path']) pseudonyms.nameOf(field, `some ${field}`, 'service')
  expect([pseudonyms.known(), pseudonyms.shapes()]).toEqual([[], {}])
})

it('a value is made up as the last release made it up: its length, its digits, its signs where they stand', () => {
  const shapes: readonly Shape[] = [
    { length: 0, signs: '' },
    { length: 1, signs: '' },
    { length: 70, signs: '' },
    { length: 43, signs: '-_' },
    { length: 3, signs: '!"#$%' },
    { length: 6, signs: '', digits: true },
    { length: 9, signs: '.', digits: true },
  ]
  expect(shapes.map((shape) => madeUp('code.1', shape))).toMatchSnapshot()
  expect(madeUp('cookie.sso.sid.1', undefined)).toBe('cookiessosid1')
})

it('signs are all but letters, digits and what is not ASCII, each once and in order', () => {
  const pseudonyms = createPseudonyms()
  pseudonyms.nameOf('code', ' ~{}|`[]^_@?:;<=>/.-,+*()\'&%$#"!\\azAZ09äöé🚗~~', 'service')
  expect(pseudonyms.shapes()['code.1']?.signs).toBe(' !"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~')
})
