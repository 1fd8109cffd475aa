/** What the signed-in see and do. */
import { createSso, createTokenManager } from '@owner-sso/core'
import { startEmulator } from '@owner-sso/emulator'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import { load } from 'cheerio'
import { describe, expect, it } from '@jest/globals'
import { freePort } from '../../../tests/support/free-port.ts'
import { startPortal } from './portal-under-test.ts'

function timeLeft(html: string): number {
  const bar = load(html)('progress')
  return Number(bar.attr('value')) / Number(bar.attr('max'))
}

describe('home', () => {
  it('shows the vehicles, and the token’s state with its time left as a bar', async () => {
    const { home } = await (await startPortal()).signedIn()
    expect(home.text).toMatch(/Daily EMULATED000000001 Online.*Weekend EMULATED000000002 Asleep/u)
    expect(home.text).toMatch(/Access token Valid (?:8 hours|7 hours 59 minutes) left/u)
    expect(timeLeft(home.html)).toBeGreaterThan(0.99)
  })

  it.each(['refreshed-tokens-refused', 'refreshed-tokens-refused-403'] as const)(
    'shows the vehicles all the same, and until when, where the owner API refuses refreshed tokens: %s',
    async (scenario) => {
      const portal = await startPortal()
      const { me, home: before } = await portal.signedIn()
      const end = load(before.html)('time').text()
      expect(end).toMatch(/^\d\d? \w{3} \d{4}, \d\d:\d\d UTC$/u)
      portal.emulator.applyScenario(scenario)
      await portal.tokens.refresh('plain@example.com')
      const { text } = await me.open('/')
      expect(text).toContain('Weekend')
      expect(text).toContain(`Refreshed tokens are refused by the owner API. Works until ${end}; sign in again before.`)
      expect(portal.emulator.counters.refreshRequests).toBe(1)
    },
  )

  it('says to sign in again where no other token is left', async () => {
    const portal = await startPortal()
    const { me } = await portal.signedIn()
    portal.emulator.applyScenario('refreshed-tokens-refused-403')
    for (const oldAccessToken of ['lives', 'lives', 'ends'] as const) {
      portal.emulator.change({ oldAccessToken })
      await portal.tokens.refresh('plain@example.com')
      await me.open('/')
    }
    const { text, status } = await me.open('/')
    expect(status).toBe(502)
    expect(text).toContain('Refreshed tokens are refused by the owner API; sign in again.')
    expect(text).not.toContain('does not help')
  })

  it('links to the owner API’s own answers, through the proxy that carries the token', async () => {
    const portal = await startPortal()
    const { me, home } = await portal.signedIn()
    const link = load(home.html)('a[href^="/owner-api/"]').attr('href')
    const answer = await me.open(String(link))
    expect(JSON.parse(answer.html)).toMatchObject({ count: 2, response: [{ display_name: 'Daily' }, {}] })
    expect(answer.html).not.toContain(await portal.tokens.getAccessToken('plain@example.com'))
  })

  it('gives the owner API’s answers to people who are signed in alone', async () => {
    const portal = await startPortal()
    expect((await portal.visitor().open('/owner-api/api/1/vehicles')).status).toBe(401)
    expect(portal.emulator.counters.ownerApiCalls).toBe(0)
  })

  it.each(['/owner-api/api/1/echo', '/owner-api/api/1/vehicles/..%2Fecho'])(
    'calls the owner API for no other path: %s',
    async (path) => {
      const portal = await startPortal()
      const { me } = await portal.signedIn()
      const before = portal.emulator.counters.ownerApiCalls
      expect((await me.open(path)).status).toBeGreaterThanOrEqual(400)
      expect(portal.emulator.counters.ownerApiCalls).toBe(before)
    },
  )

  it('answers for an owner API that can’t be reached in one fixed sentence, and logs what that leaves out', async () => {
    const port = await freePort()
    const apiUrl = `http://127.0.0.1:${port}`
    const portal = await startPortal({ portal: { apiUrl } })
    const { me } = await portal.signedIn()
    portal.log.length = 0
    const { status, html } = await me.open('/owner-api/api/1/vehicles')
    expect(status).toBe(502)
    expect(JSON.parse(html)).toMatchObject({ code: 'ERR_OWNER_API_UNREACHABLE' })
    expect(html).not.toMatch(/ECONN|127\.0\.0\.1/u)
    expect(portal.log).toEqual([
      expect.stringMatching(new RegExp(`^Answered ERR_OWNER_API_UNREACHABLE: .*ECONNREFUSED.*:${port}$`, 'u')),
    ])
  })

  it('refreshes now: one request, a new token, and says so once', async () => {
    const portal = await startPortal()
    const { me, home } = await portal.signedIn()
    const before = await portal.tokens.getAccessToken('plain@example.com')
    const answer = await me.send(home, '/refresh')
    expect([answer.status, answer.location]).toEqual([303, '/'])
    const renewed = await me.follow(answer)
    expect(renewed.text).toMatch(/Your token was renewed It works for (?:8 hours|7 hours 59 minutes)/u)
    expect(portal.emulator.counters.refreshRequests).toBe(1)
    expect(await portal.tokens.getAccessToken('plain@example.com')).not.toBe(before)
    expect((await me.open('/')).text).not.toContain('Your token was renewed')
  })

  it('says that nothing was sent when the token was renewed a moment ago', async () => {
    const emulator = await startEmulator()
    const sso = createSso({ authUrl: emulator.authUrl })
    const tokens = createTokenManager({ issuer: sso, store: memoryTokenStore() })
    const portal = await startPortal({ portal: { sso, tokens, apiUrl: emulator.ownerApiUrl } })
    const { me, home } = await portal.signedIn()
    const renewed = await me.follow(await me.send(home, '/refresh'))
    const again = await me.follow(await me.send(renewed, '/refresh'))
    expect(again.text).toContain('Your token is already fresh')
    expect(emulator.counters.refreshRequests).toBeLessThanOrEqual(1)
    await emulator.close()
  })

  it('renews a token that the owner API does not take any more, and shows no message', async () => {
    const portal = await startPortal()
    const { me } = await portal.signedIn()
    portal.emulator.revokeAccessTokens('plain@example.com')
    const page = await me.open('/')
    expect(page.status).toBe(200)
    expect(page.text).toContain('Daily')
    expect(portal.emulator.counters.refreshRequests).toBe(1)
  })

  it('asks the owner API at most twice when it takes no token at all', async () => {
    const portal = await startPortal()
    const { me } = await portal.signedIn()
    const calls = portal.emulator.requests.length
    portal.emulator.always('owner-api', { status: 401, body: { error: 'invalid_token' } })
    const page = await me.open('/')
    expect(page.status).toBe(502)
    expect(page.text).toContain('Your vehicles can’t be shown now')
    expect(portal.emulator.requests.slice(calls).map(({ path }) => path)).toEqual([
      '/api/1/vehicles',
      '/oauth2/v3/token',
      '/api/1/vehicles',
    ])
  })

  it('asks to sign in again when the refresh token is dead', async () => {
    const portal = await startPortal()
    const { me, home } = await portal.signedIn()
    portal.emulator.expireRefreshTokens('plain@example.com')
    const answer = await me.send(home, '/refresh')
    expect([answer.status, answer.location]).toEqual([303, '/sign-in'])
    const page = await me.follow(answer)
    expect(page.text).toContain('Please sign in again')
    expect((await me.open('/')).location).toBe('/sign-in')
  })

  it('shows the vehicles although a refresh met the firewall, and says when to try again', async () => {
    const portal = await startPortal()
    const { me, home } = await portal.signedIn()
    portal.emulator.once('refresh', { firewall: true })
    const answer = await me.send(home, '/refresh')
    expect(answer.status).toBe(503)
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
    expect(answer.text).toMatch(/paused.*Try again in/u)
    expect(answer.text).toContain('Daily')
  })

  it('shows the token although the owner API is broken', async () => {
    const portal = await startPortal()
    const { me } = await portal.signedIn()
    portal.emulator.once('owner-api', { body: '<html>not JSON</html>' })
    const page = await me.open('/')
    expect(page.status).toBe(502)
    expect(page.text).toMatch(/could not be read.*Access token Valid/u)
  })

  it('signs out: the tokens are forgotten and the session ends', async () => {
    const portal = await startPortal()
    const { me, home } = await portal.signedIn()
    const answer = await me.send(home, '/sign-out')
    expect([answer.status, answer.location]).toEqual([303, '/sign-in'])
    expect((await me.follow(answer)).text).toContain('You are signed out')
    expect(await portal.tokens.status('plain@example.com')).toMatchObject({ state: 'signed-out' })
    expect((await me.open('/')).location).toBe('/sign-in')
  })

  it('ends the session of another browser whose account signed out', async () => {
    const portal = await startPortal()
    const [here, there] = [await portal.signedIn(), await portal.signedIn()]
    await here.me.send(here.home, '/sign-out')
    const answer = await there.me.open('/')
    expect(answer.location).toBe('/sign-in')
    expect((await there.me.follow(answer)).text).toContain('You were signed out')
  })

  it.each(['/refresh', '/sign-out'])('asks who is not signed in to do so before %s', async (path) => {
    const me = (await startPortal()).visitor()
    const page = await me.open('/sign-in')
    const answer = await me.post(path, { _csrf: page.fields('/sign-in')['_csrf'] ?? '' })
    expect([answer.status, answer.location]).toEqual([303, '/sign-in'])
  })
})
