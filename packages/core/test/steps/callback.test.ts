/** The address that a login ends on, as `redeemCallback` takes it: what is not exactly it is never redeemed. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { anyText } from '../../../../tests/support/any-text.ts'
import { createSso, SsoError } from '../../src/index.ts'
import { runs } from '../../../../tests/support/runs.ts'
import { type SmallService, startSmallService } from '../small-service.ts'

const redirectUri = 'https://auth.example.com/void/callback'
const state = 'the-state-of-this-login'
let service: SmallService
beforeAll(async () => {
  service = await startSmallService()
})
afterAll(() => service.close())
beforeEach(() => {
  service.requests.length = 0
})

/** What comes of an address: the code that was sent to the service, or the error. */
async function redeemed(address: string, uri = redirectUri): Promise<string> {
  const sso = createSso({ authUrl: service.authUrl, redirectUri: uri })
  const request = { ...JSON.parse(JSON.stringify(sso.createAuthorizationUrl().request)), state }
  const before = service.requests.length
  try {
    await sso.redeemCallback(address, request)
    return `redeemed ${JSON.parse(service.requests.at(-1)?.body ?? '{}').code}`
  } catch (error) {
    if (!(error instanceof SsoError) || service.requests.length > before) throw error
    return `${error.code} ${error.message}`
  }
}

/** The query of a good callback; `issuer` is the service's own address. */
const queryOf = (issuer: string): string => `code=abc&state=${state}&issuer=${encodeURIComponent(issuer)}`
const goodAt = (issuer: string): string => `${redirectUri}?${queryOf(issuer)}`

describe('the address that a login ends on', () => {
  it('has its code redeemed at the instance that it names, whatever other parameters it has', async () => {
    expect(await redeemed(`${goodAt(service.authUrl)}&locale=en-US&locale=de`)).toBe('redeemed abc')
  })

  it('may have an app’s own scheme', async () => {
    const address = `owner-app://auth/callback?${queryOf(service.authUrl)}`
    expect(await redeemed(address, 'owner-app://auth/callback')).toBe('redeemed abc')
  })

  it('is shown in the error where a code alone, or the address of the login page, was given', async () => {
    for (const came of ['abc', 'https://auth.example.com/oauth2/v3/authorize?client_id=ownerapi']) {
      expect(await redeemed(came)).toContain(
        `what came is not the address that this login ends on, ${redirectUri}?code=…`,
      )
    }
  })

  // Any instance will do: each of these is refused before it is looked at.
  const issuer = 'https://auth.example.com/oauth2/v3'
  const query = queryOf(issuer)
  const good = goodAt(issuer)
  const wrong: [string, string][] = [
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
    ['ERR_SSO_UNEXPECTED_RESPONSE', `\u0000${good}`],
    ['ERR_SSO_UNEXPECTED_RESPONSE', `${redirectUri}?error=login_cancelled&state=${state}`],
  ]
  it.each(wrong)('is rejected with %s: %s (S10, S12, S13, J4)', async (code, address) => {
    expect(await redeemed(address)).toMatch(new RegExp(`^${code} `, 'u'))
  })

  it.each([
    '',
    's',
    state.slice(1),
    `${state}x`,
    state.replace('t', 'T'),
    '\u0000'.repeat(state.length),
    'ü'.repeat(22),
  ])('is rejected with the state %j (S43)', async (given) => {
    const address = `${redirectUri}?code=abc&issuer=${issuer}&state=${encodeURIComponent(given)}`
    expect(await redeemed(address)).toMatch(/^ERR_SSO_STATE_MISMATCH /u)
  })

  it('may have 8192 characters, and its code 2048', async () => {
    const code = 'a'.repeat(2048)
    const address = goodAt(service.authUrl)
    expect(await redeemed(address.replace('code=abc', `code=${code}`))).toBe(`redeemed ${code}`)
    expect(await redeemed(`${address}&x=`.padEnd(8192, 'x'))).toBe('redeemed abc')
    expect(await redeemed(`${address}&x=`.padEnd(8193, 'x'))).toMatch(/^ERR_SSO_UNEXPECTED_RESPONSE /u)
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
  ])('repeats the error %j alone where all of it is a plain word: %s', async (error, isShown) => {
    const address = `${redirectUri}?error=${encodeURIComponent(error)}&error_description=secret&state=${state}`
    const outcome = await redeemed(address)
    expect(outcome).toContain(isShown ? `(${error})` : '(an error without a name)')
    expect(outcome).not.toContain('secret')
  })

  it('is rejected with any change to its state, its address, or whether it names the issuer (J4)', async () => {
    const address = goodAt(service.authUrl)
    const mutation = fc.tuple(fc.nat(address.length - 1), anyText({ minLength: 1, maxLength: 3 }))
    await fc.assert(
      fc.asyncProperty(mutation, async ([at, text]) => {
        const mutated = address.slice(0, at) + text + address.slice(at + 1)
        if (!(await redeemed(mutated)).startsWith('redeemed')) return
        const url = new URL(mutated.trim())
        expect(`${url.origin}${url.pathname}`).toBe(redirectUri)
        expect(url.searchParams.getAll('state')).toEqual([state])
      }),
      { numRuns: runs(500) },
    )
  })

  it('is rejected in any other form (G3)', async () => {
    const text = fc.oneof(fc.webUrl({ withQueryParameters: true, withFragments: true }), anyText())
    await fc.assert(
      fc.asyncProperty(text, async (address) => {
        expect(await redeemed(address)).not.toMatch(/^redeemed/u)
      }),
      { numRuns: runs(500) },
    )
  })
})
