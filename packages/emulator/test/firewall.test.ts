import { describe, expect, it } from '@jest/globals'
import { startEmulator } from '../src/index.ts'
import { isBrowser } from '../src/firewall.ts'
import { Client } from './client.ts'

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'

describe('the firewall', () => {
  it('challenges a browser-like User-Agent with the recorded page, on authorize and token alike', async () => {
    await using emulator = await startEmulator()
    const client = new Client(emulator, { userAgent: BROWSER })
    const pages = [
      (await client.open()).page,
      await client.post({}),
      await client.refresh('x'),
      await client.send('/oauth2/v3/authorize/mfa/factors'),
      await client.json('/oauth2/v3/authorize/mfa/verify', {}),
    ]
    for (const { status, headers, text } of pages) {
      expect(status).toBe(403)
      expect(headers.get('content-type')).toMatch(/^text\/html/u)
      expect(text).toContain('<TITLE>Access Denied</TITLE>')
      expect(text).toMatch(/Reference&#32;&#35;18/u)
    }
    expect(emulator.counters.challenges).toBe(pages.length)
    expect((await new Client(emulator).open()).page.status).toBe(200)
  })

  it('lets the browsers in that the option names', async () => {
    await using any = await startEmulator({ allowBrowsers: true })
    expect((await new Client(any, { userAgent: BROWSER }).open()).page.status).toBe(200)
    await using firefox = await startEmulator({ allowBrowsers: /firefox/iu })
    expect((await new Client(firefox, { userAgent: BROWSER }).open()).page.status).toBe(403)
    expect((await new Client(firefox, { userAgent: 'Mozilla/5.0 Firefox/140.0' }).open()).page.status).toBe(200)
  })

  it('blocks a client after too many requests in a window, for a while', async () => {
    await using emulator = await startEmulator({ firewall: { maxRequests: 3, windowSeconds: 10, blockSeconds: 100 } })
    const client = new Client(emulator)
    const statusAfter = async (seconds: number): Promise<number> => {
      emulator.clock.advance(seconds)
      return (await client.open()).page.status
    }
    expect([await statusAfter(0), await statusAfter(0), await statusAfter(0)]).toEqual([200, 200, 200])
    expect(await statusAfter(11)).toBe(200)
    expect([await statusAfter(0), await statusAfter(0), await statusAfter(0)]).toEqual([200, 200, 403])
    expect(await statusAfter(90)).toBe(403)
    expect(await statusAfter(11)).toBe(200)
  })

  it('can be switched off', async () => {
    await using emulator = await startEmulator({ firewall: false })
    expect((await new Client(emulator, { userAgent: BROWSER }).open()).page.status).toBe(200)
  })

  it('does not stand before the owner API', async () => {
    await using emulator = await startEmulator()
    const answer = await fetch(`${emulator.ownerApiUrl}/api/1/vehicles`, { headers: { 'user-agent': BROWSER } })
    expect(answer.status).toBe(401)
  })
})

describe('isBrowser', () => {
  it.each(['Mozilla/5.0', 'x Chrome/1', 'Firefox/140.0', 'Opera/9', 'HeadlessChrome/1 Safari/5'])(
    '%s is one',
    (name) => {
      expect(isBrowser(name)).toBe(true)
    },
  )
  it.each(['', 'owner-sso/1.0.0', 'axios/1.2', 'node', 'curl/8', 'edgeworth/2'])('%s is none', (name) => {
    expect(isBrowser(name)).toBe(false)
  })
})
