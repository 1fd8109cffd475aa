import { describe, expect, it } from '@jest/globals'
import { startEmulator } from '../../src/index.ts'
import { useEmulator } from '../../src/jest.ts'
import { Client } from '../client.ts'

const emulator = useEmulator()

describe('GET /oauth2/v3/authorize', () => {
  it('answers a login page with the five hidden inputs of the document', async () => {
    const { page, hidden } = await new Client(emulator).open()
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(Object.keys(hidden)).toEqual(['_csrf', '_phase', '_process', 'transaction_id', 'cancel'])
    expect(hidden).toMatchObject({ _phase: 'authenticate', _process: '1', cancel: '' })
    expect(page.text).toContain('name="identity"')
    expect(page.text).toContain('name="credential"')
  })

  it('encodes values, and has decoys of inputs in a comment, in a script and disabled', async () => {
    const { page, hidden } = await new Client(emulator).open()
    expect(hidden['_csrf']).toMatch(/&"</u)
    expect(page.text).not.toContain(hidden['_csrf'])
    expect(page.text).toMatch(/<!--[^>]*name="_csrf"/u)
    expect(page.text).toMatch(/legacy = '<input type="hidden" name="_csrf"/u)
    expect(page.text).toContain('disabled')
  })

  it('sets one session cookie and the three of the firewall', async () => {
    const { page } = await new Client(emulator).open()
    const cookies = page.headers.getSetCookie()
    expect(cookies.map((line) => line.replace(/=[^;]*/u, ''))).toEqual([
      'ak_bmsc; Max-Age=7200; Path=/',
      'bm_sz; Max-Age=14400; Path=/',
      'sso.sid; Path=/; HttpOnly; SameSite=Lax',
      '_abck; Max-Age=31536000; Path=/',
    ])
  })

  it.each(['client_id', 'code_challenge', 'code_challenge_method', 'redirect_uri', 'response_type', 'scope', 'state'])(
    'rejects a request without %s, with a wrong one, or with two',
    async (name) => {
      const client = new Client(emulator)
      const twice = client.query()
      twice.append(name, twice.get(name) ?? '')
      const wrong = name === 'state' ? '' : 'wrong value'
      const pages = [
        (await client.open({ [name]: undefined })).page,
        (await client.open({ [name]: wrong })).page,
        await client.send(`/oauth2/v3/authorize?${twice.toString()}`),
      ]
      for (const page of pages) {
        expect(page.status).toBe(400)
        expect(page.text).toContain(name)
        expect(page.headers.getSetCookie().join()).not.toContain('sso.sid')
      }
    },
  )

  it('sends an account of the other region there with a 303, whichever region asks', async () => {
    const home = await new Client(emulator).open({ login_hint: 'Regional@Example.com' })
    expect(home.page.status).toBe(303)
    const location = new URL(home.page.headers.get('location') ?? '')
    expect(location.origin).toBe(emulator.regionalAuthUrl)
    expect(location.pathname).toBe('/oauth2/v3/authorize')
    expect(location.searchParams.get('redirect_uri')).toBe(`${emulator.authUrl}/void/callback`)

    const away = await new Client(emulator, { base: emulator.regionalAuthUrl }).open({
      login_hint: 'plain@example.com',
    })
    expect(new URL(away.page.headers.get('location') ?? '').origin).toBe(emulator.authUrl)
  })

  it.each(['plain@example.com', 'nobody@example.com'])('shows the login page for the hint %s', async (hint) => {
    const { page } = await new Client(emulator).open({ login_hint: hint })
    expect(page.status).toBe(200)
    expect(page.text).toContain(hint)
  })

  it('encodes a hostile hint', async () => {
    const { page } = await new Client(emulator).open({ login_hint: '"><script>alert(1)</script>' })
    expect(page.text).not.toContain('<script>alert')
  })
})

describe('the options of the login page', () => {
  it('takes the redirect URIs it was given and no other', async () => {
    const redirectUri = 'https://app.example.com/callback'
    await using changed = await startEmulator({ redirectUris: [redirectUri] })
    const client = new Client(changed)
    expect((await client.open({ redirect_uri: redirectUri })).page.status).toBe(200)
    expect((await client.open()).page.status).toBe(400)
  })
})
