/** A process that leaves refreshes to others asks the service nothing, not for a sign-in either. */
import { expect, it } from '@jest/globals'
import { useEmulator } from '@owner-sso/emulator/jest'
import { createSso, createTokenManager, type Sso } from '../../src/index.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'

const emulator = useEmulator()
const plain = { identity: 'plain@example.com', credential: 'correct horse' }
const mfa = { ...plain, identity: 'mfa@example.com' }
const refused = {
  code: 'ERR_SSO_REFRESH_ELSEWHERE',
  requestSent: false,
  message: expect.stringContaining('Sign in where tokens are refreshed, into the same store.'),
}

const service = (): Sso => createSso({ authUrl: emulator.authUrl })

it('refuses every call of its service, before a request and before a browser is sent there', async () => {
  const home = service()
  const begun = await home.beginLogin(mfa)
  const { request } = home.createAuthorizationUrl()
  const tokens = await home.login(plain)
  const sso = service()
  const manager = createTokenManager({ issuer: sso, store: mapStore(), refresh: 'elsewhere' })
  const before = emulator.requests.length
  if (begun.kind !== 'passcode-required') throw new Error('no passcode was asked for')
  const address = `${emulator.authUrl}/void/callback?code=x&state=x&issuer=x`
  for (const call of [
    () => sso.login(plain),
    () => sso.beginLogin(plain),
    () => sso.completeLogin(begun.pending, { passcode: '123456' }),
    () => sso.redeemCallback(address, request),
    () => sso.refresh(tokens),
    async () => sso.createAuthorizationUrl(),
  ]) {
    await expect(call()).rejects.toMatchObject(refused)
  }
  expect(emulator.requests).toHaveLength(before)
  // What somebody brings is stored, and served.
  await manager.save(plain.identity, tokens)
  expect(await manager.getAccessToken(plain.identity)).toBe(tokens.access_token)
  expect(emulator.requests).toHaveLength(before)
})

it('refuses those of another service that shares what is known of the firewall', async () => {
  const other = service()
  createTokenManager({ issuer: service(), store: mapStore(), refresh: 'elsewhere' }).shareFirewallState(other)
  await expect(other.login(plain)).rejects.toMatchObject(refused)
})
