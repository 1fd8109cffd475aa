import { describe, expect, it } from '@jest/globals'
import { startEmulator } from '../../src/index.ts'
import { Client } from '../client.ts'

const browser = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'

describe('the firewall', () => {
  it('challenges a browser-like User-Agent with the recorded page, on authorize and token alike', async () => {
    await using emulator = await startEmulator()
    const client = new Client(emulator, { userAgent: browser })
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

  it('lets browsers in with allowBrowsers', async () => {
    await using any = await startEmulator({ allowBrowsers: true })
    expect((await new Client(any, { userAgent: browser }).open()).page.status).toBe(200)
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

  it('does not watch the owner API', async () => {
    await using emulator = await startEmulator()
    const answer = await fetch(`${emulator.ownerApiUrl}/api/1/vehicles`, { headers: { 'user-agent': browser } })
    expect(answer.status).toBe(401)
  })
})

describe('emulator.firewall', () => {
  it('challenges everybody for as long as it is told to, and is lifted', async () => {
    await using emulator = await startEmulator()
    const client = new Client(emulator)
    const status = async (): Promise<number> => (await client.open()).page.status
    emulator.firewall.block(100)
    expect([await status(), emulator.firewall.blockedUntil]).toEqual([
      403,
      expect.closeTo(emulator.clock.now() + 100, 0),
    ])
    emulator.clock.advance(101)
    expect([await status(), emulator.firewall.blockedUntil]).toEqual([200, undefined])
    emulator.firewall.block()
    emulator.clock.advance(899)
    expect(await status()).toBe(403)
    emulator.firewall.lift()
    expect(await status()).toBe(200)
    expect(() => emulator.firewall.block(Number.NaN)).toThrow(TypeError)
  })

  it('counts the requests of each client for itself, and no longer once its window is over', async () => {
    await using emulator = await startEmulator({ firewall: { maxRequests: 2 } })
    const [calm, hasty] = ['calm', 'hasty'].map((userAgent) => new Client(emulator, { userAgent }))
    const status = async (client: Client | undefined): Promise<number | undefined> =>
      (await client?.open())?.page.status
    expect([await status(hasty), await status(hasty), await status(hasty)]).toEqual([200, 200, 403])
    expect([await status(calm), await status(calm)]).toEqual([200, 200])
    emulator.clock.advance(61)
    expect([await status(calm), await status(hasty)]).toEqual([200, 403])
  })

  it('takes new rules while it runs', async () => {
    await using emulator = await startEmulator()
    const client = new Client(emulator)
    await client.open()
    emulator.change({ firewall: { maxRequests: 1 } })
    expect((await client.open()).page.status).toBe(403)
    emulator.change({ firewall: false })
    expect((await client.open()).page.status).toBe(200)
    emulator.change({ firewall: { maxRequests: null }, allowBrowsers: true })
    emulator.firewall.lift()
    expect((await new Client(emulator, { userAgent: browser }).open()).page.status).toBe(200)
  })
})

describe('a User-Agent', () => {
  const statusOf = async (userAgent: string): Promise<number> => {
    await using emulator = await startEmulator()
    return (await new Client(emulator, { userAgent }).open()).page.status
  }

  it.each(['Mozilla/5.0', 'x Chrome/1', 'Firefox/140.0', 'Opera/9', 'HeadlessChrome/1 Safari/5'])(
    'like %s is a browser’s',
    async (userAgent) => {
      expect(await statusOf(userAgent)).toBe(403)
    },
  )

  it.each(['owner-sso/1.0.0', 'axios/1.2', 'node', 'curl/8', 'edgeworth/2'])('like %s is none', async (userAgent) => {
    expect(await statusOf(userAgent)).toBe(200)
  })
})
