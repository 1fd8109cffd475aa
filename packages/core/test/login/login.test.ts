import { afterEach, describe, expect, it } from '@jest/globals'
import { type Emulator, type EmulatorOptions, type LoggedRequest, startEmulator } from '@owner-sso/emulator'
import { createSso, type Sso, type SsoOptions } from '../../src/index.ts'

const open: Emulator[] = []
afterEach(async () => {
  for (const emulator of open.splice(0)) await emulator.close()
})

async function start(
  options: EmulatorOptions = {},
  more: Partial<SsoOptions> = {},
): Promise<{ emulator: Emulator; sso: Sso }> {
  const emulator = await startEmulator({ firewall: { maxRequests: 10_000 }, ...options })
  open.push(emulator)
  const sso = createSso({
    authUrl: emulator.authUrl,
    regionalAuthUrls: [emulator.regionalAuthUrl],
    ...(emulator.ca === undefined ? {} : { tls: { ca: emulator.ca } }),
    ...more,
  })
  return { emulator, sso }
}

const plain = { identity: 'plain@example.com', credential: 'correct horse' }
const mfa = { identity: 'mfa@example.com', credential: 'correct horse' }
const regional = { identity: 'regional@example.com', credential: 'correct horse' }

const lines = (requests: readonly LoggedRequest[]): string[] => requests.map(({ method, path }) => `${method} ${path}`)
const connections = (requests: readonly LoggedRequest[]): number =>
  new Set(requests.map(({ connection }) => connection)).size

function passcodeOf(emulator: Emulator, identity = mfa.identity): { passcode: string; factorId: string } {
  const account = emulator.accounts.find((each) => each.identity === identity)
  const factorId = account?.factors[0]?.id ?? ''
  return { passcode: account?.passcode(factorId) ?? '', factorId }
}

const page = 'GET /oauth2/v3/authorize'
const form = 'POST /oauth2/v3/authorize'
const token = 'POST /oauth2/v3/token'
const factors = 'GET /oauth2/v3/authorize/mfa/factors'
const verify = 'POST /oauth2/v3/authorize/mfa/verify'

describe('a login makes exactly the requests of the document', () => {
  it('makes 3 without a second factor, on one connection', async () => {
    const { emulator, sso } = await start()
    const tokens = await sso.login(plain)
    expect(lines(emulator.requests)).toEqual([page, form, token])
    expect(connections(emulator.requests)).toBe(1)
    expect(tokens).toMatchObject({ token_type: 'Bearer', auth_url: emulator.authUrl, state: expect.any(String) })
  })

  it('makes 7 where the passcode page comes at the code exchange, on one connection', async () => {
    const { emulator, sso } = await start()
    await sso.login({ ...mfa, passcode: () => passcodeOf(emulator) })
    expect(lines(emulator.requests)).toEqual([page, form, token, factors, verify, form, token])
    expect(connections(emulator.requests)).toBe(1)
  })

  it('makes 6 where the passcode page comes at the form submission, on one connection', async () => {
    const { emulator, sso } = await start({ mfaAt: 'form-submission' })
    await sso.login({ ...mfa, passcode: () => passcodeOf(emulator) })
    expect(lines(emulator.requests)).toEqual([page, form, factors, verify, form, token])
    expect(connections(emulator.requests)).toBe(1)
  })

  it('makes 4 over a region, 3 of them there', async () => {
    const { emulator, sso } = await start()
    const tokens = await sso.login(regional)
    expect(lines(emulator.requests)).toEqual([page, page, form, token])
    expect(emulator.requests.map(({ host }) => host === new URL(emulator.regionalAuthUrl).host)).toEqual([
      false,
      true,
      true,
      true,
    ])
    expect(connections(emulator.requests)).toBe(2)
    expect(tokens.auth_url).toBe(emulator.regionalAuthUrl)
  })

  it('makes 1 for a refresh, on a fresh connection, at the instance that issued the tokens (S15)', async () => {
    const { emulator, sso } = await start()
    const tokens = await sso.login(regional)
    const before = emulator.requests.length
    const fresh = await sso.refresh(tokens)
    await sso.refresh(fresh)
    const refreshes = emulator.requests.slice(before)
    expect(lines(refreshes)).toEqual([token, token])
    expect(connections(refreshes)).toBe(2)
    expect(refreshes.every(({ host }) => host === new URL(emulator.regionalAuthUrl).host)).toBe(true)
    expect(fresh.refresh_token).not.toBe(tokens.refresh_token)
    expect(fresh.id_token).toEqual(expect.any(String))
  })

  it('keeps the redirect_uri of the home instance at a region', async () => {
    const { emulator, sso } = await start()
    await sso.login(regional)
    expect(new Set(emulator.requests.slice(0, 3).map(({ query }) => query['redirect_uri']))).toEqual(
      new Set([`${emulator.authUrl}/void/callback`]),
    )
  })

  it('sends login_hint with both GETs and never with the POST', async () => {
    const { emulator, sso } = await start()
    await sso.login(regional)
    expect(emulator.requests.map(({ query }) => 'login_hint' in query)).toEqual([true, true, false, false])
  })
})

describe('a login over TLS', () => {
  it('speaks TLS 1.2 to a service that offers 1.3, with a private CA (S8, I5)', async () => {
    const { emulator, sso } = await start({ tls: true })
    await sso.login(plain)
    expect(emulator.requests.map(({ tlsVersion }) => tlsVersion)).toEqual(['TLSv1.2', 'TLSv1.2', 'TLSv1.2'])
    expect(connections(emulator.requests)).toBe(1)
  })

  it('speaks 1.3 where the option allows it', async () => {
    const { emulator, sso } = await start({ tls: true, firewall: false })
    const modern = createSso({ authUrl: emulator.authUrl, tls: { maxVersion: 'TLSv1.3', ca: emulator.ca ?? '' } })
    await modern.login(plain)
    expect(emulator.requests[0]?.tlsVersion).toBe('TLSv1.3')
    expect(sso.authUrl).toBe(emulator.authUrl)
  })

  it('speaks TLS 1.3 and HTTP/2 with the transport modern: login, second factor, region and refresh', async () => {
    const { emulator, sso } = await start({ tls: true, http2: true, mintedBy: { tls: 'TLSv1.3', http: '2' } })
    const modern = createSso({
      authUrl: sso.authUrl,
      regionalAuthUrls: [emulator.regionalAuthUrl],
      transport: 'modern',
      tls: { ca: emulator.ca ?? '' },
    })
    await modern.login({ ...mfa, passcode: () => passcodeOf(emulator) })
    expect(connections(emulator.requests)).toBe(1)
    const tokens = await modern.refresh(await modern.login(regional))
    expect(tokens.auth_url).toBe(emulator.regionalAuthUrl)
    const wires = emulator.requests.map(({ tlsVersion, httpVersion }) => `${tlsVersion} ${httpVersion}`)
    expect(new Set(wires)).toEqual(new Set(['TLSv1.3 2']))
  })

  it('does not speak to a service whose CA it was not given', async () => {
    const { emulator } = await start({ tls: true })
    const trusting = createSso({ authUrl: emulator.authUrl })
    await expect(trusting.login(plain)).rejects.toMatchObject({ code: 'ERR_SSO_UNREACHABLE', requestSent: false })
    expect(emulator.requests).toEqual([])
  })
})

describe('a redirect address of an app’s own', () => {
  it('is the redirect_uri of all three requests, second factor and region included', async () => {
    const redirectUri = 'owner-app://auth/callback'
    const { emulator, sso } = await start({ redirectUris: [redirectUri] }, { redirectUri })
    await sso.login(plain)
    await sso.login({ ...mfa, passcode: () => passcodeOf(emulator) })
    await sso.login(regional)
    const said = emulator.requests.flatMap(({ query, body }) => [query['redirect_uri'], body['redirect_uri']])
    expect(new Set(said.filter((value) => value !== undefined))).toEqual(new Set([redirectUri]))
  })
})

describe('whatever the page looks like', () => {
  it.each([
    [
      'renamed hidden inputs',
      { hiddenInputs: { rename: { _csrf: 'token', transaction_id: 'tx', _phase: '__proto__' } } },
    ],
    ['more hidden inputs', { hiddenInputs: { extra: { 'a&b': '"quoted" <value> &amp; ü', constructor: 'x' } } }],
    ['hidden inputs in a script template', { hiddenInputs: { inTemplate: true } }],
    ['a passcode page in a script template', { passcodePage: { inTemplate: true } }],
    ['a passcode page with duplicates', { passcodePage: { duplicates: true } }],
    ['a service that wants the hex digest', { codeChallengeEncoding: 'hex-digest' }],
  ] satisfies [string, EmulatorOptions][])('signs in with %s', async (_, options) => {
    const { emulator, sso } = await start(options)
    await sso.login({ ...mfa, passcode: () => passcodeOf(emulator) })
    expect(emulator.counters.challenges).toBe(0)
  })

  it('signs in with a service that wants the raw digest, by option', async () => {
    const { sso } = await start({ codeChallengeEncoding: 'raw-digest' }, { codeChallengeEncoding: 'raw-digest' })
    await expect(sso.login(plain)).resolves.toMatchObject({ token_type: 'Bearer' })
  })
})

describe('every request', () => {
  it('of another login comes without the cookies of the first (S24)', async () => {
    const { emulator, sso } = await start()
    await sso.login(plain)
    await sso.login(plain)
    const cookies = emulator.requests.map(({ headers }) => 'cookie' in headers)
    expect(cookies).toEqual([false, true, true, false, true, true])
  })

  it('carries its own User-Agent, and no browser-like one (I5)', async () => {
    const { emulator, sso } = await start()
    await sso.refresh(await sso.login(plain))
    for (const { headers } of emulator.requests) expect(headers['user-agent']).toMatch(/^owner-sso\/\d+\.\d+\.\d+/u)
  })

  it('is made once, whatever fails (S39)', async () => {
    const { emulator, sso } = await start()
    emulator.always('token', { status: 503, body: 'unavailable' })
    await expect(sso.login(plain)).rejects.toMatchObject({ code: 'ERR_SSO_UNEXPECTED_RESPONSE' })
    expect(emulator.requests).toHaveLength(3)
    emulator.always('token', undefined)
    emulator.always('refresh', { drop: 'after-commit' })
    const tokens = await sso.login(plain)
    const before = emulator.requests.length
    await expect(sso.refresh(tokens)).rejects.toMatchObject({ code: 'ERR_SSO_UNREACHABLE', requestSent: true })
    expect(emulator.requests).toHaveLength(before + 1)
  })
})

describe('a pair of e-mail and password that is sent again while the first answer is awaited', () => {
  it('waits for that answer, so that a wrong password counts once', async () => {
    const { emulator, sso } = await start()
    const wrong = { ...plain, credential: 'mistyped' }
    const ends = await Promise.allSettled([sso.beginLogin(wrong), sso.login(wrong), sso.beginLogin(wrong)])
    expect(ends.map((end) => end.status === 'rejected' && [end.reason.code, end.reason.requestSent])).toEqual([
      ['ERR_SSO_INVALID_CREDENTIALS', true],
      ['ERR_SSO_INVALID_CREDENTIALS', false],
      ['ERR_SSO_INVALID_CREDENTIALS', false],
    ])
    expect(emulator.counters.credentialChecks).toBe(1)
  })

  it('is sent after all where the first was accepted, or not answered; another pair does not wait', async () => {
    const { emulator, sso } = await start()
    let release = (): void => undefined
    emulator.once('form-submission', { hold: new Promise<void>((resolve) => (release = resolve)) })
    const [first, again] = [sso.login(plain), sso.login(plain)]
    await sso.login(regional)
    expect(emulator.counters.loginPages).toBeLessThanOrEqual(3)
    release()
    const [one, other] = await Promise.all([first, again])
    expect(one.access_token).not.toBe(other.access_token)

    emulator.once('login-page', { drop: 'before-commit' })
    const [lost, next] = await Promise.allSettled([sso.login(plain), sso.login(plain)])
    expect([lost.status, next.status]).toEqual(['rejected', 'fulfilled'])
  })

  it('stops waiting when its caller does', async () => {
    const { emulator, sso } = await start()
    let release = (): void => undefined
    emulator.once('form-submission', { hold: new Promise<void>((resolve) => (release = resolve)) })
    const first = sso.login(plain)
    const caller = new AbortController()
    const again = sso.login(plain, { signal: caller.signal })
    caller.abort()
    await expect(again).rejects.toMatchObject({ code: 'ERR_SSO_TIMEOUT', requestSent: false })
    release()
    await first
    expect(emulator.counters.credentialChecks).toBe(1)
  })
})
