/** Sign-in on the service's own page: the address that the person ends on is pasted. */
import { createSso, createTokenManager } from '@owner-sso/core'
import { startEmulator } from '@owner-sso/emulator'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import { describe, expect, it } from '@jest/globals'
import { startPortal } from './portal-under-test.ts'

function linkOn(html: string): string {
  return /href="(http[^"]+)" target="_blank"/u.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? ''
}

describe('signing in on the service’s own page', () => {
  it('takes the pasted address and signs in whoever the service says it was', async () => {
    const portal = await startPortal()
    const me = portal.visitor()
    const page = await me.open('/sign-in/browser')
    expect(page.text).toContain(`${portal.emulator.authUrl}/void/callback?code=`)
    const callbackUrl = await portal.emulator.signInByHand(linkOn(page.html))
    const answer = await me.send(page, '/sign-in/browser', { callbackUrl: `  ${callbackUrl}\n` })
    expect([answer.status, answer.location]).toEqual([303, '/'])
    expect((await me.follow(answer)).text).toMatch(/plain@example\.com.*Daily/u)
  })

  it('asks the service nothing before, and keeps its link over a reload', async () => {
    const portal = await startPortal()
    const me = portal.visitor()
    const first = linkOn((await me.open('/sign-in/browser')).html)
    expect(first).toMatch(/^http:/u)
    expect(linkOn((await me.open('/sign-in/browser')).html)).toBe(first)
    expect(portal.emulator.requests).toHaveLength(0)
  })

  it.each(['', 'nonsense', 'javascript:alert(1)?code=1', 'https://auth.example.com/void/callback'])(
    'asks for the whole address instead of %j',
    async (callbackUrl) => {
      const portal = await startPortal()
      const me = portal.visitor()
      const page = await me.open('/sign-in/browser')
      const answer = await me.send(page, '/sign-in/browser', { callbackUrl })
      expect(answer.status).toBe(422)
      expect(answer.text).toContain('Paste the whole address')
      expect(linkOn(answer.html)).toBe(linkOn(page.html))
    },
  )

  it('takes the line of the console that shows the address of today’s service, and lists its vehicles', async () => {
    const portal = await startPortal({ emulator: { service: 'current' }, sso: { service: 'current' } })
    const me = portal.visitor()
    const page = await me.open('/sign-in/browser')
    expect(page.text).toContain('owner://auth/callback?code=')
    expect(page.text).toContain('Failed to launch')
    const address = await portal.emulator.signInByHand(linkOn(page.html))
    const callbackUrl = `Failed to launch '${address}' because the scheme does not have a registered handler.`
    const answer = await me.send(page, '/sign-in/browser', { callbackUrl })
    expect([answer.status, answer.location]).toEqual([303, '/'])
    expect((await me.follow(answer)).text).toContain('Daily')
  })

  it('signs in also where the address is submitted twice, and the browser shows the second answer', async () => {
    const portal = await startPortal()
    const me = portal.visitor()
    const page = await me.open('/sign-in/browser')
    const fields = { callbackUrl: await portal.emulator.signInByHand(linkOn(page.html)) }
    const both = await Promise.all([
      me.send(page, '/sign-in/browser', fields),
      me.send(page, '/sign-in/browser', fields),
    ])
    expect(both.map(({ status, location }) => `${status} ${location}`)).toEqual(['303 /', '303 /'])
    expect(portal.emulator.counters.codeExchanges).toBe(1)
  })

  it('rejects the address of somebody else’s sign-in, and the right one works after that', async () => {
    const portal = await startPortal()
    const [me, other] = [portal.visitor(), portal.visitor()]
    const page = await me.open('/sign-in/browser')
    const foreign = await portal.emulator.signInByHand(linkOn((await other.open('/sign-in/browser')).html))
    const refused = await me.send(page, '/sign-in/browser', { callbackUrl: foreign })
    expect(refused.status).toBe(401)
    expect(refused.text).toContain('belongs to another sign-in')
    expect(refused.html).not.toContain(new URL(foreign).searchParams.get('code'))
    expect(portal.emulator.counters.codeExchanges).toBe(0)
    const own = await portal.emulator.signInByHand(linkOn(refused.html))
    expect((await me.send(refused, '/sign-in/browser', { callbackUrl: own })).location).toBe('/')
  })

  it('offers a new link once an address was spent', async () => {
    const portal = await startPortal()
    const me = portal.visitor()
    const page = await me.open('/sign-in/browser')
    const url = new URL(await portal.emulator.signInByHand(linkOn(page.html)))
    url.searchParams.set('code', 'spent')
    const answer = await me.send(page, '/sign-in/browser', { callbackUrl: url.href })
    expect(answer.status).toBe(401)
    expect(answer.text).toContain('was used before or is too old')
    expect(linkOn(answer.html)).not.toBe(linkOn(page.html))
  })

  /** The portal of an application that was registered with this redirect address. */
  async function registeredPortal(redirectUri: string) {
    const emulator = await startEmulator({ service: 'registered', redirectUris: [redirectUri] })
    const { authUrl, tokenUrl, ownerApiUrl: audience } = emulator
    const client = { clientId: 'emulated-application', clientSecret: 'emulated-secret', audience }
    const sso = createSso({ authUrl, tokenUrl, service: 'registered', redirectUri, ...client })
    const tokens = createTokenManager({ issuer: sso, store: memoryTokenStore() })
    const portal = await startPortal({ portal: { sso, tokens, apiUrl: audience } })
    return { me: portal.visitor(), emulator, [Symbol.asyncDispose]: () => emulator.close() }
  }

  it('is the only way for a registered application, and no form asks for a password', async () => {
    await using portal = await registeredPortal('https://app.example.com/callback')
    const { me, emulator } = portal
    const first = await me.open('/sign-in')
    expect([first.status, first.location]).toEqual([303, '/sign-in/browser'])
    const page = await me.open('/sign-in/browser')
    expect(page.text).not.toMatch(/captcha|Back to e-mail/u)
    const callbackUrl = await emulator.signInByHand(linkOn(page.html))
    const answer = await me.send(page, '/sign-in/browser', { callbackUrl })
    expect((await me.follow(answer)).text).toMatch(/plain@example\.com.*Daily/u)
  })

  it('leads there and back by itself where the redirect address is the portal’s own', async () => {
    await using portal = await registeredPortal('https://portal.example.com/sign-in/callback')
    const { me, emulator } = portal
    const { location = '' } = await me.follow(await me.open('/sign-in'))
    const { pathname, search } = new URL(await emulator.signInByHand(location))
    expect((await me.follow(await me.open(pathname + search))).text).toMatch(/plain@example\.com.*Daily/u)
    const again = await me.open(pathname + search)
    expect([again.status, linkOn(again.html)]).toEqual([401, expect.stringContaining(emulator.authUrl)])
    expect(emulator.counters.codeExchanges).toBe(1)
  })

  it('says that an account with a passcode signs in with the form', async () => {
    const portal = await startPortal({ emulator: { mfaAt: 'code-exchange' } })
    const me = portal.visitor()
    const page = await me.open('/sign-in/browser')
    const callbackUrl = await portal.emulator.signInByHand(linkOn(page.html), { identity: 'mfa@example.com' })
    const answer = await me.send(page, '/sign-in/browser', { callbackUrl })
    expect(answer.status).toBe(401)
    expect(answer.text).toContain('The service wants a passcode as well')
  })
})
