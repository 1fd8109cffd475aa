/** The portal in a real Chromium: every page on a phone and a desktop, with and without JavaScript, in light and dark. */
import { createSso, createTokenManager } from '@owner-sso/core'
import { useEmulator } from '@owner-sso/emulator/jest'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { createApp } from '../src/app.ts'
import { demoOf } from '../src/demo.ts'
import { type RunningServer, serve } from '../src/server.ts'
import { objections } from '../../../tests/support/axe.ts'
import { describeInChromium, launchChromium } from '../../../tests/support/chromium.ts'
import { passcode } from './portal-under-test.ts'

const phone = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }
const desktop = { viewport: { width: 1200, height: 800 } }

describeInChromium('in a real Chromium', () => {
  let browser: Browser
  const emulator = useEmulator({ allowBrowsers: true, mfaAt: 'form-submission' })
  let server: RunningServer

  beforeAll(async () => {
    browser = await launchChromium()
    const { sso: service, apiUrl, box } = demoOf(emulator)
    const sso = createSso(service)
    const tokens = createTokenManager({ issuer: sso, store: memoryTokenStore(), minRefreshInterval: 0 })
    server = await serve(createApp({ sso, tokens, apiUrl, demo: box }), '127.0.0.1', 0)
  }, 60_000)

  afterAll(async () => {
    await browser.close()
    await server.close()
  })

  /** A page in a context of its own, which fails the test on anything that the browser complains about. */
  async function visit(options: BrowserContextOptions): Promise<{ page: Page; complaints: string[] }> {
    const context = await browser.newContext({ baseURL: server.url, ...options })
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().includes('the server responded with a status of 4')) {
        complaints.push(message.text())
      }
    })
    page.on('pageerror', (error) => complaints.push(error.message))
    return { page, complaints }
  }

  /** Does what leads to the next page, and waits until that one is there, its styles included. */
  async function turnPage(page: Page, act: () => Promise<void>): Promise<void> {
    const loaded = page.waitForEvent('load')
    await act()
    await loaded
  }

  function press(page: Page, role: 'button' | 'link', name: string): Promise<void> {
    return turnPage(page, () => page.getByRole(role, { name }).click())
  }

  async function signIn(page: Page, identity: string, credential = 'correct horse'): Promise<void> {
    await page.goto('/sign-in')
    await page.getByLabel('E-mail').fill(identity)
    await page.getByLabel('Password').fill(credential)
    await press(page, 'button', 'Sign in')
  }

  async function heading(page: Page): Promise<string> {
    return (await page.getByRole('heading', { level: 1 }).first().textContent())?.trim() ?? ''
  }

  /** Nothing sticks out of the page. */
  async function fits(page: Page, what: string): Promise<void> {
    expect([what, await page.evaluate('document.documentElement.scrollWidth - innerWidth')]).toEqual([what, 0])
  }

  it('shows every page on a phone, without JavaScript and without a complaint of the browser', async () => {
    const { page, complaints } = await visit({ ...phone, javaScriptEnabled: false })
    await page.goto('/')
    expect(await heading(page)).toBe('Sign in')
    await fits(page, 'sign-in')

    await press(page, 'button', 'Sign in')
    await fits(page, 'sign-in-empty')
    await signIn(page, 'plain@example.com', 'mistyped on a phone')
    expect(await page.getByRole('alert').textContent()).toContain('did not accept this e-mail and password')
    expect(await page.getByLabel('E-mail').inputValue()).toBe('plain@example.com')
    expect(await page.getByLabel('Password').inputValue()).toBe('')
    await fits(page, 'sign-in-mistyped')

    await press(page, 'link', 'Sign in on the service’s own page')
    expect(await heading(page)).toBe('Sign in on the service’s page')
    await fits(page, 'service-page')

    await signIn(page, 'mfa@example.com')
    expect(await heading(page)).toBe('Enter your passcode')
    await fits(page, 'passcode')
    await page.getByText('No device at hand?').click()
    expect(await page.getByLabel('Backup code').isVisible()).toBe(true)
    await page.getByLabel('Passcode').fill('12')
    await press(page, 'button', 'Continue')
    await fits(page, 'passcode-mistyped')

    await signIn(page, 'plain@example.com')
    expect(await heading(page)).toBe('Your vehicles')
    await fits(page, 'home')
    await page.goto('/nowhere')
    await fits(page, 'not-found')
    expect(complaints).toEqual([])
    await page.context().close()
  }, 60_000)

  it('signs in with a passcode of the second device after a mistyped one, and signs out', async () => {
    const { page } = await visit({ javaScriptEnabled: false })
    await signIn(page, 'mfa@example.com')
    await page.getByLabel('Tablet').check()
    await page.getByLabel('Passcode').fill('000000')
    await press(page, 'button', 'Continue')
    expect(await page.getByRole('alert').textContent()).toContain('did not accept this passcode')
    expect(await page.getByLabel('Tablet').isChecked()).toBe(true)

    await page.getByLabel('Passcode').fill(passcode(emulator, 'Tablet'))
    await press(page, 'button', 'Continue')
    expect(await heading(page)).toBe('Your vehicles')
    expect(await page.getByText('mfa@example.com').isVisible()).toBe(true)

    await press(page, 'button', 'Sign out')
    expect(await page.getByRole('status').textContent()).toContain('You are signed out')
    await page.goBack()
    expect(await heading(page)).toBe('Sign in')
    await page.context().close()
  })

  it('signs in on the service’s own page, by the address that the person ends on', async () => {
    const { page } = await visit({})
    await page.goto('/sign-in/browser')
    const opened = page.context().waitForEvent('page')
    await page.getByRole('link', { name: 'Open the service’s page' }).click()
    const service = await opened
    await service.locator('[name=identity]').fill('mfa@example.com')
    await service.locator('[name=credential]').fill('correct horse')
    await service.locator('[type=submit]').first().click()
    await service.locator('[name=passcode]').fill(passcode(emulator, 'Device #1'))
    await service.locator('[type=submit]').first().click()
    await service.waitForURL(/void\/callback/u)
    await page.getByLabel('The whole address').fill(service.url())
    await press(page, 'button', 'Sign in')
    expect(await heading(page)).toBe('Your vehicles')
    expect(await page.getByText('mfa@example.com').isVisible()).toBe(true)
    await page.context().close()
  })

  it('leads a newcomer to the inspector, where the sign-in can be watched', async () => {
    const { page } = await visit(desktop)
    await page.goto('/sign-in')
    const opened = page.context().waitForEvent('page')
    await page.getByRole('link', { name: 'Watch each sign-in' }).click()
    const inspector = await opened
    await signIn(page, 'plain@example.com')
    await inspector.getByText('tokens issued').first().waitFor()
    const login = inspector.getByRole('heading', { level: 2, name: 'plain@example.com' })
    await login.waitFor()
    expect(await login.count()).toBe(1)
    await page.context().close()
  })

  it('refreshes the token and says so', async () => {
    const { page } = await visit(desktop)
    await signIn(page, 'regional@example.com')
    await press(page, 'button', 'Refresh now')
    expect(await page.getByRole('status').textContent()).toContain('Your token was renewed')
    await page.context().close()
  })

  it('tells times by the clock of the reader, with its zone', async () => {
    const { page, complaints } = await visit({ timezoneId: 'Asia/Kolkata' })
    await signIn(page, 'plain@example.com')
    const shown = page.getByRole('time')
    const end = Date.parse((await shown.getAttribute('datetime')) ?? '')
    const there = new Date(end + 5.5 * 3_600_000).toISOString()
    expect(await shown.textContent()).toContain(`${there.slice(11, 16)} GMT+5:30`)
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it('is operated with the keyboard alone', async () => {
    const { page } = await visit({ javaScriptEnabled: false })
    await page.goto('/sign-in')
    // The browser moves the focus there some time after the page has loaded.
    await page.locator('#identity:focus').waitFor()
    await page.keyboard.type('mfa@example.com')
    await page.keyboard.press('Tab')
    await page.keyboard.type('correct horse')
    await turnPage(page, () => page.keyboard.press('Enter'))
    await page.locator('#passcode:focus').waitFor()
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('ArrowDown')
    expect(await page.getByLabel('Tablet').isChecked()).toBe(true)
    await page.keyboard.press('Tab')
    await page.keyboard.type(passcode(emulator, 'Tablet'))
    await turnPage(page, () => page.keyboard.press('Enter'))
    expect(await heading(page)).toBe('Your vehicles')
    await page.keyboard.press('Tab')
    expect(await page.locator(':focus').textContent()).toBe('Skip to the content')
    expect((await page.locator(':focus').boundingBox())?.y).toBeGreaterThan(0)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await turnPage(page, () => page.keyboard.press('Enter'))
    expect(await page.getByRole('status').textContent()).toContain('You are signed out')
    await page.context().close()
  })

  it.each(['light', 'dark'] as const)(
    'leaves axe nothing to object to in %s',
    async (colorScheme) => {
      const { page } = await visit({ colorScheme, bypassCSP: true })
      const found: string[] = []
      const look = async (): Promise<void> => {
        await fits(page, page.url())
        found.push(...(await objections(page, colorScheme)))
      }
      await page.goto('/sign-in')
      await look()
      await press(page, 'button', 'Sign in')
      await look()
      await signIn(page, 'plain@example.com', `mistyped in ${colorScheme}`)
      await look()
      await page.goto('/sign-in/browser')
      await look()
      await signIn(page, 'mfa@example.com')
      await page.getByText('No device at hand?').click()
      await look()
      await page.getByLabel('Passcode').fill('12')
      await press(page, 'button', 'Continue')
      await look()
      await signIn(page, 'plain@example.com')
      await look()
      emulator.once('owner-api', { status: 500 })
      await press(page, 'button', 'Refresh now')
      await look()
      await page.goto('/nowhere')
      await look()
      await page.goto('/')
      await press(page, 'button', 'Sign out')
      await look()
      expect(found).toEqual([])
      await page.context().close()
    },
    60_000,
  )
})
