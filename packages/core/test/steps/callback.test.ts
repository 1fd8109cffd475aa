import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { anyText } from '../../../../tests/support/any-text.ts'
import { SsoError } from '../../src/index.ts'
import { readCallback } from '../../src/steps/callback.ts'
import { runs } from '../../../../tests/support/runs.ts'

const redirectUri = 'https://auth.example.com/void/callback'
const state = 'the-state-of-this-login'
const issuer = 'https://auth.example.com/oauth2/v3'
const read = (address: string | undefined, uri = redirectUri): unknown =>
  readCallback(address, { redirectUri: uri, state }, { step: 'form-submission', status: 302 })
const query = `code=abc&state=${state}&issuer=${encodeURIComponent(issuer)}`
const good = `${redirectUri}?${query}`

function codeOf(call: () => unknown): string {
  try {
    call()
    return 'accepted'
  } catch (error) {
    if (error instanceof SsoError) return error.code
    throw error
  }
}

describe('the address that a login ends on', () => {
  it('gives its code and issuer, whatever stands beside them', () => {
    expect(read(`${good}&locale=en-US&locale=de`)).toEqual({ code: 'abc', issuer })
  })

  it('may be an app’s own', () => {
    expect(read(`owner-app://auth/callback?${query}`, 'owner-app://auth/callback')).toEqual({ code: 'abc', issuer })
  })

  const wrong: [string, string | undefined][] = [
    ['ERR_SSO_UNEXPECTED_RESPONSE', undefined],
    ['ERR_SSO_UNEXPECTED_RESPONSE', ''],
    ['ERR_SSO_UNEXPECTED_RESPONSE', `/void/callback?${query}`],
    ['ERR_SSO_UNEXPECTED_RESPONSE', `//auth.example.com/void/callback?${query}`],
    ['ERR_SSO_UNEXPECTED_RESPONSE', `http://auth.example.com/void/callback?${query}`],
    ['ERR_SSO_UNEXPECTED_RESPONSE', `https://auth.example.com:444/void/callback?${query}`],
    ['ERR_SSO_UNEXPECTED_RESPONSE', `https://evil.example/void/callback?${query}`],
    ['ERR_SSO_UNEXPECTED_RESPONSE', `https://user@auth.example.com/void/callback?${query}`],
    ['ERR_SSO_UNEXPECTED_RESPONSE', `https://auth.example.com/void/callback/?${query}`],
    ['ERR_SSO_UNEXPECTED_RESPONSE', `https://auth.example.com/void/Callback?${query}`],
    ['ERR_SSO_UNEXPECTED_RESPONSE', `https://auth.example.com/void?${query}`],
    ['ERR_SSO_UNEXPECTED_RESPONSE', `https://auth.example.com/void/callback#${query}`],
    ['ERR_SSO_UNEXPECTED_RESPONSE', `${good}#fragment`],
    ['ERR_SSO_UNEXPECTED_RESPONSE', `https:\\\\auth.example.com\\void\\callback?${query}`],
    ['ERR_SSO_UNEXPECTED_RESPONSE', `${good} `],
    ['ERR_SSO_UNEXPECTED_RESPONSE', `${good}&${'x'.repeat(9000)}`],
    ['ERR_SSO_STATE_MISMATCH', `${redirectUri}?code=abc&issuer=${issuer}`],
    ['ERR_SSO_STATE_MISMATCH', `${redirectUri}?code=abc&state=&issuer=${issuer}`],
    ['ERR_SSO_STATE_MISMATCH', `${redirectUri}?code=abc&state=another&issuer=${issuer}`],
    ['ERR_SSO_STATE_MISMATCH', `${good}&state=${state}`],
    ['ERR_SSO_STATE_MISMATCH', `${good}&state=another`],
    ['ERR_SSO_STATE_MISMATCH', good.replace(state, state.toUpperCase())],
    ['ERR_SSO_STATE_MISMATCH', good.replace(state, `${state}%00`)],
    ['ERR_SSO_ISSUER_MISMATCH', `${redirectUri}?code=abc&state=${state}`],
    ['ERR_SSO_ISSUER_MISMATCH', `${good}&issuer=${issuer}`],
    ['ERR_SSO_UNEXPECTED_RESPONSE', `${redirectUri}?state=${state}&issuer=${issuer}`],
    ['ERR_SSO_UNEXPECTED_RESPONSE', `${redirectUri}?code=&state=${state}&issuer=${issuer}`],
    ['ERR_SSO_UNEXPECTED_RESPONSE', `${good}&code=abc`],
    ['ERR_SSO_UNEXPECTED_RESPONSE', good.replace('code=abc', `code=${'a'.repeat(2049)}`)],
    ['ERR_SSO_UNEXPECTED_RESPONSE', good.replace('code=abc', 'code=a%20b')],
    ['ERR_SSO_UNEXPECTED_RESPONSE', good.replace('code=abc', 'code=a%0Ab')],
    ['ERR_SSO_UNEXPECTED_RESPONSE', good.replace('code=abc', 'code=%C3%BC')],
    ['ERR_SSO_UNEXPECTED_RESPONSE', good.replace('code=abc', 'code=%20abc')],
    ['ERR_SSO_UNEXPECTED_RESPONSE', good.replace('code=abc', 'code=abc%20')],
    ['ERR_SSO_UNEXPECTED_RESPONSE', ` ${good}`],
    ['ERR_SSO_UNEXPECTED_RESPONSE', `\u0000${good}`],
    ['ERR_SSO_UNEXPECTED_RESPONSE', `${redirectUri}?error=login_cancelled&state=${state}`],
  ]
  it.each(wrong)('is refused with %s: %s (S10, S12, S13, J4)', (code, address) => {
    expect(codeOf(() => read(address))).toBe(code)
  })

  it.each([
    '',
    's',
    state.slice(1),
    `${state}x`,
    state.replace('t', 'T'),
    '\u0000'.repeat(state.length),
    'ü'.repeat(22),
  ])('is refused with the state %j, compared in constant time, so by digests of one length (S43)', (given) => {
    const address = `${redirectUri}?code=abc&issuer=${issuer}&state=${encodeURIComponent(given)}`
    expect(codeOf(() => read(address))).toBe('ERR_SSO_STATE_MISMATCH')
  })

  it('has a code of up to 2048 characters, and is of up to 8192', () => {
    const code = 'a'.repeat(2048)
    expect(read(good.replace('code=abc', `code=${code}`))).toEqual({ code, issuer })
    const padded = (length: number): string => `${good}&x=`.padEnd(length, 'x')
    expect(read(padded(8192))).toEqual({ code: 'abc', issuer })
    expect(codeOf(() => read(padded(8193)))).toBe('ERR_SSO_UNEXPECTED_RESPONSE')
  })

  it.each([
    ['login_cancelled', true],
    ['x'.repeat(64), true],
    ['x'.repeat(65), false],
    ['', false],
    ['Call 555-0100 login_cancelled', false],
    ['login_cancelled and call 555-0100', false],
    ['login_cancelled\n', false],
    ['Login_cancelled', false],
  ])('repeats the error %j alone where all of it is a plain word: %s', (error, isShown) => {
    const call = (): unknown => read(`${redirectUri}?error=${encodeURIComponent(error)}&state=${state}`)
    expect(call).toThrow(isShown ? `(${error})` : '(an error without a name)')
  })

  it('says which error ended the login, where that is a plain word', () => {
    expect(() => read(`${redirectUri}?error=login_cancelled&error_description=secret`)).toThrow('(login_cancelled)')
    expect(() => read(`${redirectUri}?error=%3Cscript%3E`)).toThrow('(an error without a name)')
  })

  it('is refused with any change to its state, its issuer’s presence or its place (J4)', () => {
    const mutation = fc.tuple(fc.nat(good.length - 1), anyText({ minLength: 1, maxLength: 3 }))
    fc.assert(
      fc.property(mutation, ([at, text]) => {
        const mutated = good.slice(0, at) + text + good.slice(at + 1)
        if (codeOf(() => read(mutated)) !== 'accepted') return
        const url = new URL(mutated)
        expect(`${url.origin}${url.pathname}`).toBe(redirectUri)
        expect(url.searchParams.getAll('state')).toEqual([state])
      }),
      { numRuns: runs(2000) },
    )
  })

  it('is refused in any other form (G3)', () => {
    const text = fc.oneof(fc.webUrl({ withQueryParameters: true, withFragments: true }), anyText())
    fc.assert(
      fc.property(text, (address) => {
        expect(codeOf(() => read(address))).not.toBe('accepted')
      }),
      { numRuns: runs(1000) },
    )
  })
})
