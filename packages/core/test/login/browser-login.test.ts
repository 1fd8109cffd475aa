import { inspect } from 'node:util'
import { afterEach, describe, expect, it } from '@jest/globals'
import { type Emulator, startEmulator } from '@owner-sso/emulator'
import fc from 'fast-check'
import { anyText } from '../../../../tests/support/any-text.ts'
import { type AuthorizationRequest, createSso, isCallback, type Sso } from '../../src/index.ts'
import { runs } from '../../../../tests/support/runs.ts'
import { html, type SmallService, startSmallService } from '../small-service.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

async function start(): Promise<{ service: SmallService; sso: Sso }> {
  const service = await startSmallService()
  open.push(service)
  return { service, sso: createSso({ authUrl: service.authUrl, regionalAuthUrls: ['https://auth.example.cn'] }) }
}

/** What a person's browser ends on, after it has followed the link. */
function landing(sso: Sso, url: string, change: Record<string, string | undefined> = {}): string {
  const asked = new URL(url).searchParams
  const callback = new URL(asked.get('redirect_uri') ?? '')
  const given = { code: 'code-1', state: asked.get('state') ?? '', issuer: `${sso.authUrl}/oauth2/v3`, ...change }
  for (const [name, value] of Object.entries(given)) if (value !== undefined) callback.searchParams.set(name, value)
  return callback.href
}

describe('a login in the person’s own browser', () => {
  it('starts at the authorize endpoint with exactly the document’s parameters, without a request', async () => {
    const { service, sso } = await start()
    const { url } = sso.createAuthorizationUrl({ loginHint: 'a@example.com' })
    expect(new URL(url).origin + new URL(url).pathname).toBe(`${service.authUrl}/oauth2/v3/authorize`)
    expect(Object.fromEntries(new URL(url).searchParams)).toEqual({
      client_id: 'ownerapi',
      code_challenge: expect.stringMatching(/^[\w-]{86}$/u),
      code_challenge_method: 'S256',
      redirect_uri: `${service.authUrl}/void/callback`,
      response_type: 'code',
      scope: 'openid email offline_access',
      state: expect.stringMatching(/^[\w-]{43}$/u),
      login_hint: 'a@example.com',
    })
    expect(new URL(sso.createAuthorizationUrl().url).searchParams.has('login_hint')).toBe(false)
    expect(() => sso.createAuthorizationUrl({ loginHint: 7 as unknown as string })).toThrow(TypeError)
    expect(service.requests).toEqual([])
  })

  it('ends with one request, also after the request went through JSON and the address was pasted with spaces around', async () => {
    const emulator: Emulator = await startEmulator({ allowBrowsers: true })
    open.push(emulator)
    const sso = createSso({ authUrl: emulator.authUrl })
    const { url, request } = sso.createAuthorizationUrl()
    const callback = await emulator.signInByHand(url)
    const before = emulator.requests.length
    const stored = JSON.parse(JSON.stringify(request)) as AuthorizationRequest
    await expect(sso.redeemCallback(`  ${callback}\n`, stored)).resolves.toMatchObject({
      token_type: 'Bearer',
      auth_url: emulator.authUrl,
    })
    expect(emulator.requests.slice(before).map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /oauth2/v3/token',
    ])
  })

  it('ends on an address of an app’s own scheme, where that is the redirectUri, and on no other of that scheme', async () => {
    const service = await startSmallService()
    open.push(service)
    const redirectUri = 'owner-app://auth/callback'
    const sso = createSso({ authUrl: service.authUrl, redirectUri })
    const { url, request } = sso.createAuthorizationUrl()
    const address = landing(sso, url)
    expect(address).toMatch(/^owner-app:\/\/auth\/callback\?code=/u)
    for (const wrong of ['owner-app://other/callback', 'owner-app://auth/callback/', 'owner-app2://auth/callback']) {
      await expect(sso.redeemCallback(address.replace(redirectUri, wrong), request)).rejects.toMatchObject({
        code: 'ERR_SSO_UNEXPECTED_RESPONSE',
        requestSent: false,
      })
    }
    await expect(sso.redeemCallback(address, request)).resolves.toMatchObject({ token_type: 'Bearer' })
    expect(service.requests.map(({ body }) => JSON.parse(body).redirect_uri)).toEqual([redirectUri])
  })

  it.each<[string, Record<string, string | undefined>, string]>([
    ['another state', { state: 'another' }, 'ERR_SSO_STATE_MISMATCH'],
    ['no state', { state: undefined }, 'ERR_SSO_STATE_MISMATCH'],
    ['no issuer', { issuer: undefined }, 'ERR_SSO_ISSUER_MISMATCH'],
    ['a foreign issuer', { issuer: 'https://evil.example/oauth2/v3' }, 'ERR_SSO_ISSUER_MISMATCH'],
    ['an issuer that hides its host', { issuer: 'https://auth.example.cn@evil.example' }, 'ERR_SSO_ISSUER_MISMATCH'],
    ['no code', { code: undefined }, 'ERR_SSO_UNEXPECTED_RESPONSE'],
    ['an error', { error: 'login_cancelled' }, 'ERR_SSO_UNEXPECTED_RESPONSE'],
  ])('is rejected with %s, before a request (S10, S11)', async (_, change, code) => {
    const { service, sso } = await start()
    const { url, request } = sso.createAuthorizationUrl()
    await expect(sso.redeemCallback(landing(sso, url, change), request)).rejects.toMatchObject({
      code,
      step: 'callback',
      requestSent: false,
    })
    expect(service.requests).toEqual([])
  })

  it('is redeemed at the region that the issuer names, where that is allowed, and nowhere else (S11)', async () => {
    const { service } = await start()
    const region = await startSmallService()
    open.push(region)
    const sso = createSso({ authUrl: service.authUrl, regionalAuthUrls: [region.authUrl] })
    const { url, request } = sso.createAuthorizationUrl()
    const tokens = await sso.redeemCallback(landing(sso, url, { issuer: region.authUrl }), request)
    expect(tokens.auth_url).toBe(region.authUrl)
    expect([service.requests.length, region.requests.length]).toEqual([0, 1])
    expect(JSON.parse(region.requests[0]?.body ?? '')).toMatchObject({
      redirect_uri: `${service.authUrl}/void/callback`,
    })
  })

  it('is redeemed once (S13)', async () => {
    const { service, sso } = await start()
    const { url, request } = sso.createAuthorizationUrl()
    await sso.redeemCallback(landing(sso, url), request)
    await expect(sso.redeemCallback(landing(sso, url), request)).rejects.toMatchObject({
      code: 'ERR_SSO_PENDING_LOGIN_EXPIRED',
      requestSent: false,
    })
    expect(service.requests).toHaveLength(1)
  })

  it('says so where the service asks for a passcode at the exchange', async () => {
    const { service, sso } = await start()
    service.answer({ token: html('<form><input name="passcode"><input type="hidden" name="_csrf" value="c"></form>') })
    const { url, request } = sso.createAuthorizationUrl()
    await expect(sso.redeemCallback(landing(sso, url), request)).rejects.toMatchObject({
      code: 'ERR_SSO_PASSCODE_REQUIRED',
      reason: 'in-browser',
    })
  })

  it('rejects what is no address or no request with a TypeError', async () => {
    const { sso } = await start()
    const { url, request } = sso.createAuthorizationUrl()
    await expect(sso.redeemCallback(undefined as unknown as string, request)).rejects.toThrow(TypeError)
    for (const none of [
      undefined,
      null,
      {},
      { kind: 'owner-sso/authorization-request' },
      { ...request, codeVerifier: 7 },
    ]) {
      await expect(sso.redeemCallback(landing(sso, url), none as unknown as AuthorizationRequest)).rejects.toThrow(
        TypeError,
      )
    }
  })

  it('shows neither verifier nor state when its request is printed', async () => {
    const { sso } = await start()
    const { request } = sso.createAuthorizationUrl()
    const { state, codeVerifier } = request as unknown as { state: string; codeVerifier: string }
    const printed = inspect(request, { depth: Infinity, showHidden: true })
    expect(printed).not.toContain(state)
    expect(printed).not.toContain(codeVerifier)
  })
})

describe('isCallback', () => {
  const requestFor = (redirectUri?: string): AuthorizationRequest =>
    createSso({ authUrl: 'https://auth.example.com', redirectUri }).createAuthorizationUrl().request
  const own = requestFor()
  const app = requestFor('owner-app://auth/callback')

  it.each([
    'https://auth.example.com/void/callback',
    'https://auth.example.com/void/callback?code=a&state=b&issuer=c',
    'https://auth.example.com/void/callback?error=login_cancelled',
    'https://auth.example.com/void/callback?code=a#fragment',
    'HTTPS://AUTH.example.com:443/void/./callback?code=a',
    'https://auth.example.com/elsewhere/..\\void/callback?code=a',
  ])('knows %s, whatever its query, as a browser would go there', (address) => {
    expect(isCallback(address, own)).toBe(true)
    expect(isCallback(new URL(address), own)).toBe(true)
    expect(isCallback(address, app)).toBe(false)
  })

  it.each([
    'http://auth.example.com/void/callback?code=a',
    'https://auth.example.com:8443/void/callback?code=a',
    'https://auth.example.cn/void/callback?code=a',
    'https://auth.example.com.evil.example/void/callback?code=a',
    'https://auth.example.com@evil.example/void/callback?code=a',
    'https://person@auth.example.com/void/callback?code=a',
    'https://auth.example.com/void/callback/?code=a',
    'https://auth.example.com/void/Callback?code=a',
    'https://auth.example.com/void/callback%2F?code=a',
    'https://auth.example.com/oauth2/v3/authorize?redirect_uri=https://auth.example.com/void/callback',
    '/void/callback?code=a',
    'about:blank',
    '',
  ])('is not misled by %j', (address) => {
    expect(isCallback(address, own)).toBe(false)
  })

  it('knows an address of an app’s own scheme, and no other of that scheme', () => {
    expect(isCallback('owner-app://auth/callback?code=a', app)).toBe(true)
    for (const other of ['owner-app://auth/?code=a', 'owner-app://other/callback', 'owner-app2://auth/callback']) {
      expect(isCallback(other, app)).toBe(false)
    }
  })

  it('takes a request that went through JSON, and rejects what is no request', () => {
    expect(isCallback('owner-app://auth/callback', JSON.parse(JSON.stringify(app)))).toBe(true)
    expect(app.redirectUri).toBe('owner-app://auth/callback')
    for (const none of [undefined, null, {}, { ...app, redirectUri: 7 }]) {
      expect(() => isCallback('owner-app://auth/callback', none as AuthorizationRequest)).toThrow(TypeError)
    }
  })

  it('is true of an address exactly where all but its query and fragment are the redirect address’s', () => {
    const place = fc.oneof(
      fc.constantFrom(own.redirectUri, app.redirectUri),
      fc.webUrl(),
      fc.tuple(fc.nat(own.redirectUri.length), anyText({ maxLength: 2 })).map(([at, text]) => {
        return own.redirectUri.slice(0, at) + text + own.redirectUri.slice(at + 1)
      }),
    )
    const tail = fc.tuple(fc.constantFrom('', '?', '#', '?#'), anyText()).map((parts) => parts.join(''))
    fc.assert(
      fc.property(place, tail, fc.constantFrom(own, app), (before, after, request) => {
        const address = before + after
        const [kept = ''] = URL.canParse(address) ? new URL(address).href.split(/[?#]/u) : []
        expect(isCallback(address, request)).toBe(kept === request.redirectUri)
      }),
      { numRuns: runs(2000) },
    )
  })
})
