/** `service: 'registered'`: an application of one's own at the official kind of service. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { useEmulator } from '@owner-sso/emulator/jest'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import { afterAll, afterEach, describe, expect, it, jest } from '@jest/globals'
import {
  clientSecretIn,
  createSso,
  createTokenManager,
  identifyOwner,
  type Sso,
  type SsoOptions,
  ssoOptionsFromEnvironment,
  type TokenManagerEvents,
  type TokenStore,
} from '../../src/index.ts'

const [clientId, secret] = ['app-of-ann', 'a secret & more/+']
const account = 'plain@example.com'
const redirectUri = 'https://app.example.com/callback'
const emulator = useEmulator({ service: 'registered', clientId, clientSecret: secret })
const folder = mkdtempSync(join(tmpdir(), 'owner-sso-application-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const optionsOf = (more: Partial<SsoOptions> = {}): SsoOptions => ({
  authUrl: emulator.authUrl,
  service: 'registered',
  tokenUrl: emulator.tokenUrl,
  clientId,
  clientSecret: secret,
  audience: emulator.ownerApiUrl,
  redirectUri,
  ...more,
})

async function signIn(sso: Sso, loginHint = account) {
  const { url, request } = sso.createAuthorizationUrl({ loginHint })
  return sso.redeemCallback(await emulator.signInByHand(url), request)
}

async function statusFor(token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` }
  return (await fetch(emulator.ownerApiUrl + createSso(optionsOf()).vehicleList, { headers })).status
}

describe("service: 'registered'", () => {
  it.each([account, 'mfa@example.com'])('signs %s in in a browser, refreshes, and knows who signed in', async (who) => {
    const sso = createSso(optionsOf())
    const tokens = await signIn(sso, who)
    const fresh = await sso.refresh(tokens)
    for (const { access_token } of [tokens, fresh]) expect(await statusFor(access_token)).toBe(200)
    expect(await identifyOwner(sso, fresh)).toMatchObject({ owner: { account: who } })
    expect([sso.service, sso.clientId, sso.vehicleList]).toEqual(['registered', clientId, '/api/1/vehicles'])
    const sent = emulator.requests.filter(({ path }) => path.endsWith('/token'))
    expect(sent.map(({ headers }) => headers['content-type'])).toEqual(
      sent.map(() => 'application/x-www-form-urlencoded'),
    )
  })

  it('asks for the usual scopes, or for those that are given', () => {
    const scopeOf = (options: SsoOptions): string | null =>
      new URL(createSso(options).createAuthorizationUrl().url).searchParams.get('scope')
    expect(scopeOf(optionsOf())).toMatch(/^openid offline_access .*\bvehicle_device_data\b/u)
    expect(scopeOf(optionsOf({ scope: 'openid offline_access' }))).toBe('openid offline_access')
  })

  it.each(['login', 'beginLogin'] as const)(
    'has no form for %s, and says what to do, without a request',
    async (call) => {
      const sso = createSso(optionsOf())
      const failure = sso[call]({ identity: account, credential: 'correct horse' })
      await expect(failure).rejects.toThrow(TypeError)
      await expect(failure).rejects.toThrow(
        /registered applications: sign in in a browser, with createAuthorizationUrl/u,
      )
      expect(emulator.requests).toEqual([])
    },
  )

  it('takes a secret that was changed in its file, without a restart', async () => {
    const path = join(folder, 'changing')
    writeFileSync(path, `${secret}\n`)
    const sso = createSso(optionsOf({ clientSecret: clientSecretIn(path, 'the file') }))
    const tokens = await sso.refresh(await signIn(sso))
    emulator.change({ clientSecret: 'another' })
    await expect(sso.refresh(tokens)).rejects.toMatchObject({ code: 'ERR_SSO_TOKEN_REJECTED', error: 'invalid_client' })
    writeFileSync(path, 'another')
    expect(await statusFor((await sso.refresh(tokens)).access_token)).toBe(200)
  })

  it('sends nothing where the secret can’t be had, so that nothing is in doubt', async () => {
    const path = join(folder, 'removed')
    writeFileSync(path, secret)
    const sso = createSso(optionsOf({ clientSecret: clientSecretIn(path, 'CLIENT_FILE') }))
    const tokens = await signIn(sso)
    rmSync(path)
    await expect(sso.refresh(tokens)).rejects.toMatchObject({
      code: 'ERR_SSO_UNREACHABLE',
      requestSent: false,
      message: expect.stringMatching(/CLIENT_FILE must be the path of a file .* \(ENOENT\)\)\. Nothing was sent\.$/u),
    })
    const asked = createSso(optionsOf({ clientSecret: () => Promise.reject(new Error(`no ${secret}`)) }))
    await expect(asked.refresh(tokens)).rejects.not.toThrow(secret)
    expect(emulator.counters.refreshRequests).toBe(0)
  })

  it('shows the secret in no error, although the service repeats it', async () => {
    const sso = createSso(optionsOf())
    const tokens = await signIn(sso)
    const body = { error: 'invalid_client', error_description: `No such client secret ${secret}` }
    for (const status of [400, 401]) {
      emulator.once('refresh', { status, body })
      const failure: unknown = await sso.refresh(tokens).catch((error: unknown) => error)
      expect(failure).toMatchObject({
        error: 'invalid_client',
        message: expect.stringContaining('Correct the client’s id'),
      })
      expect(inspect(failure, { depth: 9, showHidden: true }) + JSON.stringify(failure)).not.toContain(secret)
    }
    expect(inspect(sso, { depth: 9, showHidden: true })).not.toContain(secret)
  })

  it.each<[string, Partial<SsoOptions>, RegExp]>([
    ['no id', { clientId: undefined }, /^service 'registered' also needs clientId$/u],
    ['nothing', { clientSecret: undefined, tokenUrl: undefined }, /also needs clientSecret, tokenUrl$/u],
    ['no redirect address', { redirectUri: undefined }, /also needs redirectUri$/u],
    ['an empty secret', { clientSecret: '' }, /^clientSecret holds no secret$/u],
    ['a secret of two lines', { clientSecret: 'a\nb' }, /^clientSecret has several lines/u],
    ['an audience that is none', { audience: 'eu' }, /^audience must be an address/u],
    ['an id with a space', { clientId: ' app' }, /^clientId must be text/u],
    ['another kind of service', { service: 'current' }, /^clientId is a registered application's: set service/u],
  ])('is refused with %s', (_what, wrong, message) => {
    expect(() => createSso(optionsOf(wrong))).toThrow(TypeError)
    expect(() => createSso(optionsOf(wrong))).toThrow(message)
  })

  it('comes from the environment, with the secret in a file', async () => {
    const path = join(folder, 'environment')
    writeFileSync(path, `\uFEFF${secret}\r\n`)
    const environment = {
      OWNER_SSO_AUTH_URL: emulator.authUrl,
      OWNER_SSO_SERVICE: 'registered',
      OWNER_SSO_TOKEN_URL: emulator.tokenUrl,
      OWNER_SSO_CLIENT_ID: clientId,
      OWNER_SSO_CLIENT_SECRET_FILE: path,
      OWNER_SSO_AUDIENCE: emulator.ownerApiUrl,
      OWNER_SSO_SCOPE: 'openid offline_access',
      OWNER_SSO_REDIRECT_URI: redirectUri,
    }
    expect(await signIn(createSso(ssoOptionsFromEnvironment(environment)))).toMatchObject({ token_type: 'Bearer' })
    // A secret in place of the path is in no error.
    const wrong = { ...environment, OWNER_SSO_CLIENT_SECRET_FILE: 'ta-secret' }
    expect(() => ssoOptionsFromEnvironment(wrong)).toThrow(
      /^OWNER_SSO_CLIENT_SECRET_FILE must be the path of a file with the client secret, which can be read \(ENOENT\)$/u,
    )
    writeFileSync(path, '\n')
    expect(() => ssoOptionsFromEnvironment(environment)).toThrow(/holds no secret$/u)
  })
})

describe('an application that the service does not know', () => {
  const accounts = [account, 'mfa@example.com']
  const rejected = { name: 'ClientRejectedError', code: 'ERR_SSO_TOKEN_REJECTED', error: 'invalid_client' }

  /** One process: its own manager over the store. */
  function processOver(store: TokenStore, clientSecret: SsoOptions['clientSecret']) {
    const sso = createSso(optionsOf({ clientSecret }))
    const tokens = createTokenManager({ issuer: sso, store, minRefreshInterval: 0 })
    const heard: TokenManagerEvents['client-rejected'][] = []
    tokens.on('client-rejected', (event) => heard.push(event))
    return { sso, tokens, heard }
  }

  const sentStatuses = (): (number | undefined)[] =>
    emulator.requests.filter(({ path }) => path.endsWith('/token')).map(({ status }) => status)

  afterEach(() => {
    jest.restoreAllMocks()
  })

  it('lets all accounts of all processes rest after one request, is told once, and spends nothing', async () => {
    let known = secret
    const store = memoryTokenStore()
    const [one, other] = [processOver(store, () => known), processOver(store, () => known)]
    for (const name of accounts) await one.tokens.save(name, await signIn(one.sso, name))
    emulator.change({ clientSecret: 'another' })

    for (const { tokens } of [one, other])
      for (const name of accounts) await expect(tokens.refresh(name)).rejects.toMatchObject(rejected)
    await expect(other.tokens.refresh(account)).rejects.toMatchObject({
      requestSent: false,
      message: expect.stringMatching(/Correct the client’s id, secret or key\. No refresh token was spent/u),
    })
    expect(emulator.counters).toMatchObject({ refreshRequests: 0, replays: 0 })
    expect(sentStatuses()).toEqual([200, 200, 401])
    const { nextAttemptAt = 0 } = one.heard[0] ?? {}
    // A minute, up to a fifth more, and what whole seconds add.
    expect(nextAttemptAt - Date.now() / 1000).toBeLessThanOrEqual(75)
    // What they have still works.
    expect(await statusFor(await other.tokens.getAccessToken(account))).toBe(200)

    known = 'another'
    const now = Date.now()
    jest.spyOn(Date, 'now').mockImplementation(() => now + 80_000)
    for (const { tokens } of [one, other]) for (const name of accounts) await tokens.refresh(name)
    expect(emulator.counters).toMatchObject({ refreshRequests: 4, tokenRefreshes: 4, replays: 0 })
    expect([...one.heard, ...other.heard]).toHaveLength(1)
  })

  it('is told once where several accounts are rejected at the same time', async () => {
    const { sso, tokens, heard } = processOver(memoryTokenStore(), secret)
    for (const name of accounts) await tokens.save(name, await signIn(sso, name))
    emulator.change({ clientSecret: 'another' })
    const answers = await Promise.allSettled(accounts.map((name) => tokens.refresh(name)))
    for (const answer of answers) expect(answer).toMatchObject({ reason: rejected })
    expect(heard).toHaveLength(1)
  })

  it('is told by a sign-in as well, and a sign-in is tried while the others rest', async () => {
    let known = 'another'
    const { sso, tokens, heard } = processOver(memoryTokenStore(), () => known)
    await expect(signIn(sso)).rejects.toMatchObject(rejected)
    expect(heard).toHaveLength(1)
    known = secret
    await tokens.save(account, await signIn(sso))
    expect(sentStatuses()).toEqual([401, 200])
  })
})

describe('two applications with one store', () => {
  const otherClient = (theirs: string, ours: string) => ({
    code: 'ERR_SSO_STORE',
    reason: 'other-client',
    requestSent: false,
    message: expect.stringContaining(`belong to the client "${theirs}", and this program is "${ours}"`),
  })

  it('are told apart by name before anything is sent, and the first goes on', async () => {
    const store = memoryTokenStore()
    const sso = createSso(optionsOf())
    const tokens = createTokenManager({ issuer: sso, store, minRefreshInterval: 0 })
    const other = createSso(optionsOf({ clientId: 'app-of-bob' }))
    const set = await signIn(sso)
    await tokens.save(account, set)
    const managerOfOther = createTokenManager({ issuer: other, store, minRefreshInterval: 0 })
    const problem = otherClient(clientId, 'app-of-bob')
    await expect(managerOfOther.refresh(account)).rejects.toMatchObject(problem)
    await expect(managerOfOther.save('mfa@example.com', set)).rejects.toMatchObject(problem)
    expect(emulator.counters.refreshRequests).toBe(0)
    await tokens.refresh(account)
    expect(await tokens.status(account)).toMatchObject({ state: 'valid' })
  })

  it('are an application and the service’s own client as well', async () => {
    const [ours, documents] = [createSso(optionsOf()), createSso({ authUrl: emulator.authUrl })]
    const set = await signIn(ours)
    await expect(documents.refresh(set)).rejects.toMatchObject(otherClient(clientId, 'ownerapi'))
    const unmarked = { ...JSON.parse(JSON.stringify(set)), auth_url: emulator.authUrl }
    await expect(ours.refresh(unmarked)).rejects.toMatchObject(otherClient('ownerapi', clientId))
    expect(emulator.counters.refreshRequests).toBe(0)
  })

  it.each(['%', '%E0%A4', '', `${clientId}#client=${clientId}`])(
    'are told apart by an odd mark as well: %j',
    async (odd) => {
      const sso = createSso(optionsOf())
      const auth_url = `${emulator.authUrl}#client=${odd}`
      const problem = otherClient(odd, clientId)
      const tokens = createTokenManager({ issuer: sso, store: memoryTokenStore() })
      await expect(tokens.save(account, { refresh_token: 'r', auth_url })).rejects.toMatchObject(problem)
      const set = { ...JSON.parse(JSON.stringify(await signIn(sso))), auth_url }
      await expect(sso.refresh(set)).rejects.toMatchObject(problem)
      expect(emulator.counters.refreshRequests).toBe(0)
    },
  )

  it('is one where a refresh token comes from another program of it', async () => {
    const sso = createSso(optionsOf())
    const { refresh_token } = JSON.parse(JSON.stringify(await signIn(sso)))
    const tokens = createTokenManager({ issuer: sso, store: memoryTokenStore() })
    await tokens.save(account, { refresh_token, auth_url: emulator.authUrl })
    expect(await statusFor(await tokens.getAccessToken(account))).toBe(200)
  })
})
