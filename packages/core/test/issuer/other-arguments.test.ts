/** What a call says of an argument that is none of its: what came, and what to write. Nothing is sent, and nothing of it is shown. */
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { createSso, identifyOwner, isCallback } from '../../src/index.ts'
import { type SmallService, startSmallService } from '../small-service.ts'

let service: SmallService
beforeAll(async () => {
  service = await startSmallService()
})
afterAll(() => service.close())

const [identity, credential] = ['ann@example.com', 'correct horse']
const passcode = '123456'
/** As somebody calls it who has no types. */
// oxlint-disable-next-line typescript/no-explicit-any -- that is what it is about
type Call = (sso: any, authorization: any) => unknown

it.each<[what: string, call: Call, message: string]>([
  [
    'two texts',
    (sso) => sso.login(identity, credential),
    'login takes an object with identity, credential, passcode: login({ identity, credential }); text came',
  ],
  [
    'two texts',
    (sso) => sso.beginLogin(identity, credential),
    'beginLogin takes an object with identity, credential: beginLogin({ identity, credential }); text came',
  ],
  ['a promise', (sso) => sso.login(Promise.resolve({})), '}); a promise came: await it'],
  ['JSON', (sso) => sso.login(JSON.stringify({ identity, credential })), 'JSON text came: write JSON.parse(text)'],
  ['a list', (sso) => sso.login([identity, credential]), '}); a list came'],
  ['a function', (sso) => sso.login(() => ({})), '}); a function came: call it'],
  ['nothing', (sso) => sso.login(), '}); nothing came'],
  ['null', (sso) => sso.beginLogin(null), '}); null came'],
  [
    'no e-mail',
    (sso) => sso.login({ identity: '', credential }),
    'identity must be the e-mail of the account; it is empty',
  ],
  ['a number', (sso) => sso.login({ identity, credential: 4711 }), 'credential must be the password; a number came'],
  ['a promise', (sso) => sso.login({ identity, credential: Promise.resolve(credential) }), 'a promise came: await it'],
  ['a number', (sso) => sso.login({ identity, credential, passcode: 123_456 }), 'returns one; a number came'],
  [
    'text',
    (sso) => sso.completeLogin({}, passcode),
    'completeLogin takes an object with passcode: completeLogin(pending, { passcode }); text came',
  ],
  ['a number', (sso) => sso.completeLogin({}, { passcode: 123_456 }), 'leading zeros count; a number came'],
  ['too much', (sso) => sso.completeLogin({}, { passcode: '1'.repeat(65) }), 'it is far too long'],
  ['an outcome', (sso) => sso.completeLogin({ pending: {} }, { passcode }), 'all of that came: write outcome.pending'],
  ['JSON', (sso) => sso.completeLogin('{}', { passcode }), 'JSON text came: write JSON.parse(text)'],
  ['a promise', (sso) => sso.completeLogin(Promise.resolve(), { passcode }), 'a promise came: await it'],
  ['a URL', (sso, { url, request }) => sso.redeemCallback(new URL(url), request), 'a URL came: write url.href'],
  ['a promise', (sso, { request }) => sso.redeemCallback(Promise.resolve(), request), 'a promise came: await it'],
  ['both', (sso, both) => sso.redeemCallback(both.url, both), 'all of that came: write its request'],
  [
    'JSON',
    (sso, { url, request }) => sso.redeemCallback(url, JSON.stringify(request)),
    'JSON text came: write JSON.parse',
  ],
  ['both', (_, both) => isCallback(both.url, both), 'all of that came: write its request'],
  ['a refresh token', (sso) => sso.refresh('a-refresh-token'), 'tokens must be a token set; text came'],
  [
    'JSON',
    (sso) => sso.refresh('{"refresh_token":"x"}'),
    'tokens must be a token set; JSON text came: write JSON.parse',
  ],
  ['a promise', (sso) => sso.refresh(Promise.resolve({})), 'tokens must be a token set; a promise came: await it'],
  ['a list', (sso) => sso.refresh([]), 'tokens must be a token set; a list came'],
  [
    'swapped arguments',
    (sso) => identifyOwner({ refresh_token: 'a-refresh-token' } as never, sso),
    'sso must be what createSso() returns',
  ],
  ['a URL', () => createSso({ authUrl: new URL(service.authUrl) as never }), 'a URL came: write url.origin'],
  ['a promise', () => createSso({ authUrl: Promise.resolve('') as never }), 'a promise came: await it'],
])('the error says that %s came (%#)', async (_, call, message) => {
  const sso = createSso({ authUrl: service.authUrl })
  const error: unknown = await (async () => call(sso, sso.createAuthorizationUrl()))().catch(
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(TypeError)
  expect(String(error)).toContain(message)
  expect(String(error)).not.toMatch(/ann@|correct|horse|4711|123456|a-refresh-token/u)
  expect(service.requests).toEqual([])
})
