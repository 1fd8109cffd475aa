/** The token endpoint on another host than the login page: the option `tokenUrl`. */
import { describe, expect, it } from '@jest/globals'
import { useEmulator } from '@owner-sso/emulator/jest'
import {
  createSso,
  createTokenManager,
  firewallRecordName,
  refreshBudgetRecordName,
  type Sso,
  type SsoOptions,
  type TokenManager,
  type TokenManagerOptions,
} from '../../src/index.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'

const emulator = useEmulator({ tokenEndpointAt: 'port' })

const plain = { identity: 'plain@example.com', credential: 'correct horse' }
const mfa = { ...plain, identity: 'mfa@example.com' }
const regional = { ...plain, identity: 'regional@example.com' }
const challenged = { code: 'ERR_SSO_FIREWALL_CHALLENGE' }

function service(options: Partial<SsoOptions> = {}): Sso {
  const { authUrl, regionalAuthUrl, tokenUrl, regionalTokenUrl } = emulator
  return createSso({
    authUrl,
    regionalAuthUrls: [regionalAuthUrl],
    tokenUrl: { [authUrl]: tokenUrl, [`${regionalAuthUrl}/`]: regionalTokenUrl },
    ...options,
  })
}

/** As another process has it: nothing in common with others but the store. */
function keeping(store = mapStore(), options: Partial<TokenManagerOptions> = {}): { sso: Sso; tokens: TokenManager } {
  const sso = service()
  return { sso, tokens: createTokenManager({ issuer: sso, store, minRefreshInterval: 0, ...options }) }
}

/** Which requests arrived, and at which of the hosts. */
function arrived(): string[] {
  const { authUrl, regionalAuthUrl, tokenUrl, regionalTokenUrl } = emulator
  const names = new Map(
    Object.entries({ authUrl, regionalAuthUrl, tokenUrl, regionalTokenUrl }).map(([name, url]) => [
      new URL(url).host,
      name,
    ]),
  )
  return emulator.requests.map(
    ({ method, path, host }) => `${method} ${path.replace('/oauth2/v3', '')} at ${names.get(host)}`,
  )
}

describe('a token endpoint on another host', () => {
  it('is where the code of a login is exchanged, and all else goes to the instance', async () => {
    const tokens = await service({ tokenUrl: emulator.tokenUrl }).login(plain)
    expect(tokens.auth_url).toBe(emulator.authUrl)
    expect(arrived()).toEqual(['GET /authorize at authUrl', 'POST /authorize at authUrl', 'POST /token at tokenUrl'])
  })

  it('may answer with the passcode page: the passcode is verified at the instance', async () => {
    const passcode = emulator.account(mfa.identity).passcode('Device #1')
    const answer = (factors: readonly { id: string; name: string }[]): { passcode: string; factorId?: string } => ({
      passcode,
      factorId: factors.find(({ name }) => name === 'Device #1')?.id ?? '',
    })
    const tokens = await service().login({ ...mfa, passcode: answer })
    expect(tokens.auth_url).toBe(emulator.authUrl)
    expect(arrived()).toEqual([
      'GET /authorize at authUrl',
      'POST /authorize at authUrl',
      'POST /token at tokenUrl',
      'GET /authorize/mfa/factors at authUrl',
      'POST /authorize/mfa/verify at authUrl',
      'POST /authorize at authUrl',
      'POST /token at tokenUrl',
    ])
  })

  it('is where the code of a login in a browser is redeemed', async () => {
    const sso = service()
    const { url, request } = sso.createAuthorizationUrl({ loginHint: plain.identity })
    const callback = await emulator.signInByHand(url)
    expect((await sso.redeemCallback(callback, request)).auth_url).toBe(emulator.authUrl)
    expect(arrived().at(-1)).toBe('POST /token at tokenUrl')
  })

  it('belongs to a region: its tokens come from its own, and name the instance', async () => {
    const sso = service()
    const fresh = await sso.refresh(await sso.login(regional))
    expect(fresh.auth_url).toBe(emulator.regionalAuthUrl)
    expect(arrived()).toEqual([
      'GET /authorize at authUrl',
      'GET /authorize at regionalAuthUrl',
      'POST /authorize at regionalAuthUrl',
      'POST /token at regionalTokenUrl',
      'POST /token at regionalTokenUrl',
    ])
  })

  it('is the home instance’s alone where one address is given: a region’s is at the region’s address', async () => {
    const sso = service({ tokenUrl: emulator.tokenUrl })
    await expect(sso.login(regional)).rejects.toMatchObject({
      step: 'code-exchange',
      status: 404,
      message: expect.stringContaining('status 404 without usable tokens: look at tokenUrl'),
    })
    expect(arrived().filter((request) => request.startsWith('POST /token'))).toEqual(['POST /token at regionalAuthUrl'])
  })

  it('can be set after tokens were stored: their record names the instance', async () => {
    const store = mapStore()
    const before = createTokenManager({ issuer: createSso({ authUrl: emulator.authUrl }), store })
    const { refresh_token } = await emulator.issueTokens(plain.identity)
    await before.save('owner', { refresh_token, auth_url: emulator.authUrl })
    const { tokens } = keeping(store)
    await tokens.getAccessToken('owner')
    expect((await tokens.status('owner')).auth_url).toBe(emulator.authUrl)
    expect(arrived()).toEqual(['POST /token at tokenUrl'])
  })
})

describe('the firewall of the token endpoint’s host', () => {
  it('keeps all processes from refreshes and code exchanges, and from nothing else', async () => {
    const store = mapStore()
    const one = keeping(store)
    await one.tokens.save('owner', await one.sso.login(plain))
    emulator.once('refresh', { firewall: true })
    await expect(one.tokens.refresh('owner')).rejects.toMatchObject({ ...challenged, requestSent: true })
    emulator.change({ mfaAt: 'form-submission' })
    const before = emulator.requests.length

    const other = keeping(store)
    await expect(other.tokens.refresh('owner')).rejects.toMatchObject({ ...challenged, requestSent: false })
    expect(await other.sso.beginLogin(mfa)).toMatchObject({ kind: 'passcode-required' })
    const login = other.sso.login(plain)
    await expect(login).rejects.toMatchObject({ ...challenged, step: 'code-exchange', requestSent: false })
    expect(
      arrived()
        .slice(before)
        .filter((request) => request.endsWith('tokenUrl')),
    ).toEqual([])
    expect(await store.read(firewallRecordName(emulator.authUrl))).toBeUndefined()
  })

  it('is apart from that of the login page’s host: a challenge there stops no refresh', async () => {
    const store = mapStore()
    const one = keeping(store)
    await one.tokens.save('owner', await one.sso.login(plain))
    emulator.once('login-page', { firewall: true })
    await expect(one.sso.login(plain)).rejects.toMatchObject({ ...challenged, requestSent: true })
    for (const { tokens } of [one, keeping(store)]) await tokens.refresh('owner')
    expect(emulator.counters.tokenRefreshes).toBe(2)
    await expect(keeping(store).sso.login(plain)).rejects.toMatchObject({ ...challenged, requestSent: false })
  })
})

it('a budget for refreshes is that of the host which is asked', async () => {
  const store = mapStore()
  const { sso, tokens } = keeping(store, { requestBudget: { perMinute: 60 } })
  await tokens.save('owner', await sso.login(plain))
  await tokens.refresh('owner')
  expect(await store.read(refreshBudgetRecordName(emulator.tokenUrl))).toBeDefined()
  expect(await store.read(refreshBudgetRecordName(emulator.authUrl))).toBeUndefined()
})
