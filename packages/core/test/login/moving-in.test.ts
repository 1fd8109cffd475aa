/** A refresh token that was issued to another client, saved for an account of the emulated service. */
import { afterEach, beforeEach, expect, it } from '@jest/globals'
import { type Emulator, startEmulator } from '@owner-sso/emulator'
import { createSso, createTokenManager, type Sso, type TokenManager } from '../../src/index.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'

const [plain, regional] = ['plain@example.com', 'regional@example.com']
const credential = 'correct horse'
let emulator: Emulator
let sso: Sso
let store: ReturnType<typeof mapStore>
let tokens: TokenManager

beforeEach(async () => {
  emulator = await startEmulator()
  sso = createSso({ authUrl: emulator.authUrl, regionalAuthUrls: [emulator.regionalAuthUrl] })
  store = mapStore()
  tokens = createTokenManager({ issuer: sso, store })
})
afterEach(() => emulator.close())

it.each([plain, regional])('signs %s in with a refresh token from elsewhere, by one request', async (account) => {
  const { refresh_token, auth_url } = await sso.login({ identity: account, credential })
  await tokens.save(account, account === plain ? { refresh_token } : { refresh_token, auth_url })
  expect(emulator.counters.refreshRequests).toBe(0)
  const authorization = `Bearer ${await tokens.getAccessToken(account)}`
  expect((await fetch(`${emulator.ownerApiUrl}/api/1/vehicles`, { headers: { authorization } })).status).toBe(200)
  expect(emulator.counters.refreshRequests).toBe(1)
  expect(await tokens.status(account)).toMatchObject({ state: 'valid', auth_url })
})

it('serves no token where the saved refresh token turns out to be of another owner, and keeps it', async () => {
  const { refresh_token, auth_url } = await sso.login({ identity: regional, credential })
  await tokens.save(plain, { refresh_token, auth_url })
  const other = { name: 'OtherOwnerError', code: 'ERR_SSO_REAUTHENTICATION_REQUIRED', reason: 'other_owner' }
  await expect(tokens.getAccessToken(plain)).rejects.toMatchObject(other)
  await expect(createTokenManager({ issuer: sso, store }).getAccessToken(plain)).rejects.toMatchObject(other)
  expect(emulator.counters.refreshRequests).toBe(1)
  // What is kept works: under the name of its owner.
  const record = (await store.read(plain))?.record
  const kept = record !== undefined && 'tokens' in record ? record.tokens.refresh_token : ''
  await tokens.forget(plain)
  await tokens.save(regional, { refresh_token: kept, auth_url })
  expect(await tokens.getAccessToken(regional)).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/u)
})

it('stores no tokens of an instance that is not allowed', async () => {
  const grant = { refresh_token: 'secret', auth_url: 'https://auth.elsewhere.example' }
  await expect(tokens.save(plain, grant)).rejects.toMatchObject({
    code: 'ERR_SSO_REGION_NOT_ALLOWED',
    step: 'token-manager',
    requestSent: false,
    origin: grant.auth_url,
  })
  expect(await store.read(plain)).toBeUndefined()
})
