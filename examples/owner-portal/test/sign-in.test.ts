/** Sign-in with e-mail and password. */
import { describe, expect, it } from '@jest/globals'
import { credential, startPortal } from './portal-under-test.ts'

const plain = { identity: 'plain@example.com', credential }

describe('signing in with e-mail and password', () => {
  it('asks who is not signed in to do so, and shows their vehicles then', async () => {
    const portal = await startPortal()
    const me = portal.visitor()
    const page = await me.follow(await me.open('/'))
    expect(page.status).toBe(200)
    const answer = await me.send(page, '/sign-in', plain)
    expect([answer.status, answer.location]).toEqual([303, '/'])
    const home = await me.follow(answer)
    expect(home.text).toContain('plain@example.com')
    expect(home.text).toContain('Daily')
    expect(home.text).toContain('Weekend')
  })

  it('signs in an account of another region', async () => {
    const { home } = await (await startPortal()).signedIn('regional@example.com')
    expect(home.text).toContain('Daily')
  })

  it('leads home, whatever an address or a form says (S57)', async () => {
    const me = (await startPortal()).visitor()
    const page = await me.open('/sign-in?returnTo=//evil.example.com')
    const answer = await me.send(page, '/sign-in', { ...plain, returnTo: 'https://evil.example.com' })
    expect(answer.location).toBe('/')
  })

  it('shows the page again after a wrong password: with the e-mail, without the password', async () => {
    const portal = await startPortal()
    const me = portal.visitor()
    const answer = await me.send(await me.open('/sign-in'), '/sign-in', { ...plain, credential: 'wrong battery' })
    expect(answer.status).toBe(401)
    expect(answer.text).toContain('did not accept this e-mail and password')
    expect(answer.fields('/sign-in')['identity']).toBe('plain@example.com')
    expect(answer.html).not.toContain('wrong battery')
    expect(portal.emulator.counters.credentialChecks).toBe(1)
    const corrected = await me.send(answer, '/sign-in', plain)
    expect(corrected.location).toBe('/')
  })

  it.each([
    ['wrong battery', [401, 401], [undefined, undefined]],
    [credential, [303, 303], ['/', '/']],
  ])(
    'sends a password once that is submitted twice at once, and answers both alike: %s',
    async (typed, states, places) => {
      const portal = await startPortal()
      const me = portal.visitor()
      const page = await me.open('/sign-in')
      const send = () => me.send(page, '/sign-in', { ...plain, credential: typed })
      const both = await Promise.all([send(), send()])
      expect(both.map(({ status }) => status)).toEqual(states)
      expect(both.map(({ location }) => location)).toEqual(places)
      expect(portal.emulator.counters).toMatchObject({ loginPages: 1, credentialChecks: 1 })
    },
  )

  it.each([
    [{ identity: '', credential: '' }, ['Enter the e-mail', 'Enter your password']],
    [{ identity: 'plain', credential: 'x' }, ['Enter the e-mail']],
    [{ identity: 'plain@example.com', credential: '' }, ['Enter your password']],
  ])('asks for what is missing in %j without asking the service', async (typed, complaints) => {
    const portal = await startPortal()
    const me = portal.visitor()
    const answer = await me.send(await me.open('/sign-in'), '/sign-in', typed)
    expect(answer.status).toBe(422)
    for (const complaint of complaints) expect(answer.text).toContain(complaint)
    expect(answer.fields('/sign-in')['identity']).toBe(typed.identity)
    expect(portal.emulator.requests).toHaveLength(0)
  })

  it('takes a field that was sent twice as missing', async () => {
    const me = (await startPortal()).visitor()
    const { _csrf = '' } = (await me.open('/sign-in')).fields('/sign-in')
    const answer = await me.post('/sign-in', `_csrf=${_csrf}&identity=a@b.c&identity=d@e.f&credential=x`)
    expect(answer.status).toBe(422)
  })

  it('shows typed markup as text', async () => {
    const me = (await startPortal()).visitor()
    const identity = '"><script>alert(1)</script>'
    const answer = await me.send(await me.open('/sign-in'), '/sign-in', { identity, credential: 'x' })
    expect(answer.html).not.toContain('<script>alert')
    expect(answer.fields('/sign-in')['identity']).toBe(identity)
  })

  it.each([
    [{ locked: true }, 'has locked this account'],
    [{ captcha: true }, 'Sign in on the service’s own page'],
  ])('says what to do about an account that is %j', async (special, words) => {
    const account = { ...plain, ...special }
    const me = (await startPortal({ emulator: { accounts: [account] } })).visitor()
    const answer = await me.send(await me.open('/sign-in'), '/sign-in', plain)
    expect(answer.status).toBe(401)
    expect(answer.text).toContain(words)
  })

  it('says that the firewall paused it and when to try again, and keeps what was typed', async () => {
    const portal = await startPortal()
    portal.emulator.once('login-page', { firewall: true })
    const me = portal.visitor()
    const answer = await me.send(await me.open('/sign-in'), '/sign-in', plain)
    expect(answer.status).toBe(503)
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(700)
    expect(answer.text).toMatch(/paused.*Try again in 1\d minutes\./u)
    expect(answer.fields('/sign-in')['identity']).toBe('plain@example.com')
  })

  it('says that the service did not answer in time', async () => {
    const portal = await startPortal({ sso: { timeout: 300 } })
    portal.emulator.once('form-submission', { delay: 5000 })
    const me = portal.visitor()
    const answer = await me.send(await me.open('/sign-in'), '/sign-in', plain)
    expect(answer.status).toBe(504)
    expect(answer.text).toContain('did not answer in time')
  })

  it('says that the service can’t be reached', async () => {
    const portal = await startPortal()
    await portal.emulator.close()
    const me = portal.visitor()
    const answer = await me.send(await me.open('/sign-in'), '/sign-in', plain)
    expect(answer.status).toBe(503)
    expect(answer.text).toContain('can’t be reached')
    expect(portal.log).toEqual([])
  })

  it('sends the signed-in home', async () => {
    const { me } = await (await startPortal()).signedIn()
    expect((await me.open('/sign-in')).location).toBe('/')
  })
})
