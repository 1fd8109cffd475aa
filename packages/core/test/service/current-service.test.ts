import { get } from 'node:https'
import { afterEach, describe, expect, it } from '@jest/globals'
import { type Emulator, type EmulatorOptions, startEmulator } from '@owner-sso/emulator'
import {
  createSso,
  type PasscodeSource,
  type Sso,
  type SsoOptions,
  serviceProfile,
  transportNames,
} from '../../src/index.ts'

const open: Emulator[] = []
afterEach(async () => {
  for (const emulator of open.splice(0)) await emulator.close()
})

async function start(options: EmulatorOptions = {}): Promise<Emulator> {
  const emulator = await startEmulator({ service: 'current', tls: true, http2: true, ...options })
  open.push(emulator)
  return emulator
}

function ssoAt({ authUrl, regionalAuthUrl, ca }: Emulator, more: Partial<SsoOptions> = {}): Sso {
  return createSso({ authUrl, regionalAuthUrls: [regionalAuthUrl], tls: { ca }, service: 'current', ...more })
}

const plain = { identity: 'plain@example.com', credential: 'correct horse' }

/** The status with which the owner API answers. */
function ask({ ownerApiUrl, ca }: Emulator, path: string, token: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` }
    get(ownerApiUrl + path, { ca, headers }, (answer) => resolve(answer.resume().statusCode)).on('error', reject)
  })
}

describe("service: 'current'", () => {
  it.each(['plain@example.com', 'mfa@example.com', 'regional@example.com'])(
    'signs %s in by this word alone, refreshes, and has the path that lists vehicles',
    async (identity) => {
      const emulator = await start()
      const sso = ssoAt(emulator)
      const passcode: PasscodeSource = ([{ id } = { id: '' }]) => ({
        factorId: id,
        passcode: emulator.account(identity).passcode(id),
      })
      const tokens = await sso.login({ ...plain, identity, passcode })
      const fresh = await sso.refresh(tokens)
      for (const { access_token } of [tokens, fresh]) {
        expect(await ask(emulator, sso.vehicleList, access_token)).toBe(200)
        expect(await ask(emulator, '/api/1/vehicles', access_token)).toBe(412)
      }
      expect(new Set(emulator.requests.map(({ tlsVersion }) => tlsVersion))).toContain('TLSv1.3')
    },
  )

  it('signs in in a browser: the address has the scheme of the application', async () => {
    const emulator = await start()
    const sso = ssoAt(emulator)
    const { url, request } = sso.createAuthorizationUrl({ loginHint: plain.identity })
    const address = await emulator.signInByHand(url)
    expect(address).toMatch(/^owner:\/\/auth\/callback\?code=/u)
    expect(await sso.redeemCallback(address, request)).toMatchObject({ auth_url: emulator.authUrl })
  })

  it.each<[string, Partial<SsoOptions>, string, RegExp]>([
    [
      "the document's challenge",
      { codeChallengeEncoding: 'hex-digest' },
      'ERR_SSO_TOKEN_REJECTED',
      /another code challenge: set service to 'current'/u,
    ],
    [
      "the document's redirect",
      { service: 'document' },
      'ERR_SSO_UNEXPECTED_RESPONSE',
      /redirect address https:\S+\/void\/callback, set service/u,
    ],
  ])('is rejected with %s, and the error says what to set', async (_, options, code, message) => {
    const emulator = await start()
    const failure = ssoAt(emulator, options).login(plain)
    await expect(failure).rejects.toMatchObject({ code, message: expect.stringMatching(message) })
    expect(emulator.counters.credentialChecks).toBe(code === 'ERR_SSO_TOKEN_REJECTED' ? 1 : 0)
  })

  it('mints tokens over the document’s transport that the owner API refuses', async () => {
    const emulator = await start()
    for (const transport of transportNames) {
      const { access_token } = await ssoAt(emulator, { transport }).login(plain)
      const isGood = transport !== 'document'
      expect([transport, await ask(emulator, '/api/1/products', access_token)]).toEqual([transport, isGood ? 200 : 403])
    }
  })

  it.each([
    ['https://auth.example.com', 'example'],
    ['https://example.com', 'example'],
    ['https://sso.eu.auth.my-cars.de', 'my-cars'],
    ['https://auth.example.co.uk', 'example'],
    ['https://auth.example.com.cn', 'example'],
    ['https://auth.example.cn', 'example'],
    ['https://auth.3wheels.com', 'owner'],
    ['https://127.0.0.1:8443', 'owner'],
    ['https://[::1]:8443', 'owner'],
    ['https://192.0.2.1', 'owner'],
    ['https://localhost', 'owner'],
    ['https://sso.localhost', 'owner'],
    ['https://intranet', 'owner'],
  ])('redirects from %s to %s://auth/callback', (authUrl, scheme) => {
    const { url } = createSso({
      authUrl,
      service: 'current',
      regionalAuthUrls: ['https://auth.other.cn'],
    }).createAuthorizationUrl()
    expect(new URL(url).searchParams.get('redirect_uri')).toBe(`${scheme}://auth/callback`)
  })

  it('lets each single option take precedence', () => {
    const options = { authUrl: 'https://auth.example.com', service: 'current' } as const
    const query = (more: Partial<SsoOptions>): URLSearchParams =>
      new URL(createSso({ ...options, ...more }).createAuthorizationUrl().url).searchParams
    expect(query({ redirectUri: 'mine://here' }).get('redirect_uri')).toBe('mine://here')
    expect(query({}).get('code_challenge')).toHaveLength(43)
    expect(query({ codeChallengeEncoding: 'hex-digest' }).get('code_challenge')).toHaveLength(86)
  })
})

it.each(['Current', 'today', '', null, 1])(
  'the service %j is rejected with a TypeError that names the words',
  (service) => {
    const options = { authUrl: 'https://auth.example.com', service } as unknown as SsoOptions
    for (const make of [() => createSso(options), () => serviceProfile(options.service ?? ('' as never))])
      expect(make).toThrow(new TypeError("service must be one of 'document', 'current', 'registered'"))
  },
)
