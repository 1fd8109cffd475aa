/** Headers, forged forms, and secrets that no page shows (reliability scenario M2; statements S43, S56, S58, S59). */
import { describe, expect, it } from '@jest/globals'
import { credential, passcode, startPortal } from './portal-under-test.ts'
import type { Page } from './visitor.ts'

const plain = { identity: 'plain@example.com', credential }

describe('forged forms', () => {
  it('are rejected in 30 variants, before the service hears of them (M2)', async () => {
    const portal = await startPortal()
    const [me, other] = [portal.visitor(), portal.visitor()]
    const own = (await me.open('/sign-in')).fields('/sign-in')['_csrf'] ?? ''
    const foreign = (await other.open('/sign-in')).fields('/sign-in')['_csrf'] ?? ''
    const tokens = [undefined, '', 'x', foreign, own.slice(1), `${own}0`, own.toUpperCase(), `${own} `]
    const posts = [
      ...tokens.flatMap((token) =>
        ['/sign-in', '/sign-in/passcode', '/sign-in/browser'].map((path) => ({
          path,
          fields: { ...plain, passcode: '123456', ...(token !== undefined && { _csrf: token }) },
          headers: {},
        })),
      ),
      ...[
        { origin: 'https://evil.example.com' },
        { origin: 'null' },
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
        { origin: 'https://evil.example.com', 'sec-fetch-site': 'same-origin' },
        { 'content-type': 'text/plain' },
      ].map((headers) => ({ path: '/sign-in', fields: { ...plain, _csrf: own }, headers })),
    ]
    expect(posts).toHaveLength(30)
    for (const { path, fields, headers } of posts) {
      const answer = await me.post(path, fields, headers)
      expect([path, headers, answer.status]).toEqual([path, headers, 403])
      expect(answer.text).toContain('Back to the sign-in page')
    }
    expect(portal.emulator.requests).toHaveLength(0)
    const honest = await me.post('/sign-in', { ...plain, _csrf: own }, { 'sec-fetch-site': 'same-origin' })
    expect(honest.status).toBe(303)
  })

  it('are rejected for refresh and sign-out too', async () => {
    const portal = await startPortal()
    const { me, home } = await portal.signedIn()
    const stale = { _csrf: 'x' }
    expect((await me.post('/sign-out', stale)).status).toBe(403)
    expect((await me.post('/refresh', stale)).status).toBe(403)
    expect((await me.send(home, '/refresh', {}, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await me.open('/')).status).toBe(200)
    expect(portal.emulator.counters.refreshRequests).toBe(0)
  })

  it('do not pass with the token of the session before the sign-in', async () => {
    const portal = await startPortal()
    const me = portal.visitor()
    const page = await me.open('/sign-in')
    await me.follow(await me.send(page, '/sign-in', plain))
    expect((await me.send(page, '/sign-in', plain)).status).toBe(403)
  })

  it('are answered with a way back when the session is unknown', async () => {
    const portal = await startPortal()
    const page = await portal.visitor().open('/sign-in')
    const stranger = portal.visitor()
    const answer = await stranger.send(page, '/sign-in', plain)
    expect(answer.status).toBe(403)
    expect(answer.html).toContain('href="/sign-in"')
  })
})

describe('every answer', () => {
  it('may not be cached, framed, or loaded with anything from elsewhere, and runs the pages’ own script alone (S58)', async () => {
    const { me } = await (await startPortal()).signedIn()
    for (const path of ['/', '/sign-in', '/sign-in/browser', '/nowhere', '/assets/style.css']) {
      const { headers } = await me.open(path)
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'same-origin',
        'content-security-policy': expect.stringMatching(
          /^default-src 'none';script-src 'sha256-[^' ]+';style-src 'self';img-src 'self';form-action 'self';frame-ancestors 'none';base-uri 'none'$/u,
        ),
      })
      expect(headers['x-powered-by']).toBeUndefined()
      expect(headers['strict-transport-security']).toBeUndefined()
    }
  })

  it('has no other script, and no inline style, which the policy would block', async () => {
    const { me } = await (await startPortal()).signedIn()
    for (const path of ['/', '/sign-in/browser', '/nowhere']) {
      const { html } = await me.open(path)
      expect(html.match(/<script/giu)).toHaveLength(1)
      expect(html).not.toMatch(/<style|\sstyle=|\son\w+=/iu)
    }
  })

  it('shows no token, password, passcode or verifier, in no header and no page', async () => {
    const portal = await startPortal()
    const me = portal.visitor()
    const seen: Page[] = []
    const look = (page: Page): Page => {
      seen.push(page)
      return page
    }
    const signIn = look(await me.open('/sign-in'))
    look(await me.send(signIn, '/sign-in', { ...plain, credential: 'wrong battery' }))
    const step = look(
      await me.follow(look(await me.send(signIn, '/sign-in', { identity: 'mfa@example.com', credential }))),
    )
    const code = passcode(portal.emulator)
    const home = look(await me.follow(look(await me.send(step, '/sign-in/passcode', { passcode: code }))))
    const token = await portal.tokens.getAccessToken('mfa@example.com')
    look(await me.follow(look(await me.send(home, '/refresh'))))
    const renewed = await portal.tokens.getAccessToken('mfa@example.com')
    look(await me.follow(look(await me.send(await me.open('/'), '/sign-out'))))
    look(await me.open('/sign-in/browser'))
    const everything = seen.map(({ html, headers }) => html + JSON.stringify(headers)).join('\n')
    for (const secret of [credential, 'wrong battery', code, token, renewed]) expect(everything).not.toContain(secret)
    expect(everything).not.toMatch(/eyJ[\w-]{8}/u)
  })
})

describe('bodies', () => {
  it('end at 16 KiB (S59)', async () => {
    const portal = await startPortal()
    const me = portal.visitor()
    const page = await me.open('/sign-in')
    const fits = await me.send(page, '/sign-in', { identity: 'x'.repeat(15_000), credential })
    expect(fits.status).toBe(422)
    const answer = await me.send(page, '/sign-in', { ...plain, padding: 'x'.repeat(17_000) })
    expect(answer.status).toBe(413)
    expect(answer.text).toContain('To the start page')
    expect(portal.emulator.requests).toHaveLength(0)
  })

  it('are flat: a bracket in a name nests nothing (S59)', async () => {
    const me = (await startPortal()).visitor()
    const { _csrf = '' } = (await me.open('/sign-in')).fields('/sign-in')
    const answer = await me.post(
      '/sign-in',
      `_csrf=${_csrf}&identity[x]=plain@example.com&credential[y]=1&__proto__[z]=1`,
    )
    expect(answer.status).toBe(422)
    expect(Object.hasOwn(Object.prototype, 'z')).toBe(false)
  })

  it.each([
    ['application/x-www-form-urlencoded; charset=utf-7', 415],
    ['application/json', 403],
    ['multipart/form-data; boundary=x', 403],
  ])('of the type %s get a page', async (type, status) => {
    const me = (await startPortal()).visitor()
    const { _csrf = '' } = (await me.open('/sign-in')).fields('/sign-in')
    const answer = await me.post('/sign-in', `_csrf=${_csrf}`, { 'content-type': type })
    expect(answer.status).toBe(status)
    expect(answer.html).toContain('<!doctype html>')
  })
})
