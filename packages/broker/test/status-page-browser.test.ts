/** The status page in a real Chromium: phone and desktop, light and dark, and a sign-in in place. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals'
import { useEmulator } from '@owner-sso/emulator/jest'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { objections } from '../../../tests/support/axe.ts'
import { describeInChromium, launchChromium } from '../../../tests/support/chromium.ts'
import { type PageUnderTest, startPage } from './page-under-test.ts'

const credential = 'correct horse'

const phone = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }
const desktop = { viewport: { width: 1200, height: 800 } }

/** In dark a phone's pages are as wide as in light. */
const looks: (BrowserContextOptions & { name: string })[] = [
  { name: 'phone', ...phone },
  { name: 'desktop-light', ...desktop, colorScheme: 'light' },
  { name: 'desktop-dark', ...desktop, colorScheme: 'dark' },
]

describeInChromium('the status page in a real Chromium', () => {
  const emulator = useEmulator({ allowBrowsers: true, mfaAt: 'form-submission' })
  let browser: Browser
  let broker: PageUnderTest

  beforeAll(async () => {
    browser = await launchChromium()
  }, 60_000)
  afterAll(() => browser.close())
  beforeEach(async () => {
    broker = await startPage(emulator)
  })
  afterEach(() => broker.close())

  /** A page that came in with a code; it notes what the browser complains about. */
  async function enter(options: BrowserContextOptions): Promise<{ page: Page; complaints: string[] }> {
    const context = await browser.newContext({ baseURL: broker.url, ...options })
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('console', (message) => {
      const isExpected = message.text().includes('the server responded with a status of 4')
      if (message.type() === 'error' && !isExpected) complaints.push(message.text())
    })
    await page.goto('/status')
    const field = page.getByLabel('Code')
    await field.fill(await broker.code())
    // All of it is seen.
    expect(await page.evaluate('code.scrollWidth - code.clientWidth')).toBe(0)
    await press(page, 'Enter')
    return { page, complaints }
  }

  async function press(page: Page, name: string, role: 'button' | 'link' = 'button'): Promise<void> {
    const loaded = page.waitForEvent('load')
    await page.getByRole(role, { name, exact: true }).click()
    await loaded
  }

  function heading(page: Page): Promise<string | null> {
    return page.getByRole('heading', { level: 1 }).textContent()
  }

  function passcode(device: string): string {
    const account = emulator.accounts.find(({ identity }) => identity === 'mfa@example.com')
    return account?.passcode(device) ?? ''
  }

  /** A household: two accounts, one of which has to sign in again, and four programs. */
  async function furnish(): Promise<void> {
    for (const account of ['plain@example.com', 'regional@example.com']) {
      await broker.tokens.save(account, await broker.sso.login({ identity: account, credential }))
    }
    const names = ['home assistant', 'charging script', 'solar optimiser', 'dashboard']
    for (const [index, name] of names.entries()) {
      const scope = index === 3 ? (['proxy'] as const) : (['token'] as const)
      await broker.clients.invite({ name, accounts: ['plain@example.com'], scope })
      for (let call = 0; call < 40 * index; call += 1)
        broker.clients.noteUse(name, index === 1 ? 'unix socket' : '127.0.0.1')
    }
    await broker.clients.close()
    await broker.clients.invite({
      name: 'phone app',
      accounts: ['mfa@example.com'],
      expiresAt: Math.floor(Date.now() / 1000) + 30 * 86_400,
    })
    emulator.expireRefreshTokens('regional@example.com')
    await broker.tokens.refresh('regional@example.com').catch(() => undefined)
    broker.page.noteFailure('The webhook was answered with 502. It is sent again.', 'regional@example.com')
  }

  it.each(looks)(
    'shows every page without a complaint of the browser: $name',
    async ({ name, ...options }) => {
      await furnish()
      const { page, complaints } = await enter(options)
      const isWell = async (what: string): Promise<void> => {
        expect([what, await page.evaluate('document.documentElement.scrollWidth - innerWidth')]).toEqual([what, 0])
        // The same elements and colours as on a phone.
        const found = name.startsWith('desktop') ? await objections(page, options.colorScheme) : []
        expect([what, found]).toEqual([what, []])
      }
      expect(await heading(page)).toBe('Accounts')
      await isWell('overview')
      await page
        .getByRole('listitem')
        .filter({ hasText: 'mfa@example.com' })
        .getByRole('link', { name: 'Sign in' })
        .click()
      await page.waitForURL(/sign-in/u)
      await page.getByLabel('Password').fill(`mistyped in ${name}`)
      await press(page, 'Sign in')
      expect(await page.getByRole('alert').textContent()).not.toBe('')
      await isWell('sign-in-mistyped')
      await page.getByLabel('Password').fill(credential)
      await press(page, 'Sign in')
      expect(await heading(page)).toBe('Enter your passcode')
      await isWell('passcode')
      await page.goto('/status/sign-in/browser?account=mfa@example.com')
      await isWell('service-page')
      await page.goto('/status/invite')
      await page.getByLabel('Name').fill('x'.repeat(300))
      await press(page, 'Invite')
      expect(await page.getByRole('alert').textContent()).toContain('1 to 64 letters')
      await isWell('invitation')
      await page.goto('/status/program?name=dashboard')
      await isWell('program')
      await press(page, 'Make a new key')
      expect(await heading(page)).toBe('Make a new key for dashboard?')
      await isWell('question')
      await press(page, 'Make a new key')
      expect(await heading(page)).toBe('The key of dashboard')
      await isWell('key')
      await page.goto('/status/program?name=nobody')
      await isWell('message')
      await press(page, 'Sign out')
      expect(await heading(page)).toBe('Enter the code')
      await isWell('entrance')
      expect(complaints).toEqual([])
      await page.context().close()
    },
    120_000,
  )

  it('invites a program and copies its key with the keyboard alone, and a reload shows no key', async () => {
    const { page } = await enter({})
    await broker.tokens.save('plain@example.com', await broker.sso.login({ identity: 'plain@example.com', credential }))
    await page.reload()
    /** Goes on to what has this name. */
    const tabTo = async (name: string): Promise<void> => {
      const focused = '(document.activeElement.labels?.[0] ?? document.activeElement).textContent.trim()'
      for (let steps = 0; steps < 30; steps += 1) {
        await page.keyboard.press('Tab')
        if ((await page.evaluate(focused)) === name) return
      }
      throw new Error(`The keyboard does not come to ${name}.`)
    }
    const follow = async (): Promise<void> => {
      const loaded = page.waitForEvent('load')
      await page.keyboard.press('Enter')
      await loaded
    }
    await tabTo('Invite a program')
    await follow()
    // The field has the focus a moment after the page is there.
    await page.waitForFunction('document.activeElement.matches("input")')
    await page.keyboard.type('kitchen')
    await tabTo('Invite')
    await follow()
    await tabTo('Key')
    await page.keyboard.press('ControlOrMeta+A')
    const key = String(await page.evaluate('String(getSelection())'))
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await tabTo('Copy the key')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(key)
    expect(await broker.clients.find(key)).toMatchObject({ name: 'kitchen' })
    await page.reload()
    expect(await page.content()).not.toContain(key)
    expect(await broker.clients.list()).toHaveLength(1)
    await tabTo('Open kitchen')
    await follow()
    await tabTo('Revoke')
    await follow()
    expect(await heading(page)).toBe('Revoke kitchen?')
    await tabTo('Revoke')
    await follow()
    expect(await heading(page)).toBe('kitchen is revoked')
    expect(await broker.clients.list()).toEqual([])
    await page.context().close()
  }, 60_000)

  it('signs in again in place with the second device, after a mistyped passcode', async () => {
    const { page } = await enter({ javaScriptEnabled: false })
    await broker.clients.invite({ name: 'kitchen', accounts: ['mfa@example.com'] })
    await page.goto('/status')
    await press(page, 'Sign in', 'link')
    expect(await page.getByLabel('E-mail').inputValue()).toBe('mfa@example.com')
    await page.getByLabel('Password').fill(credential)
    await press(page, 'Sign in')
    await page.getByLabel('Tablet').check()
    await page.getByLabel('Passcode').fill('000000')
    await press(page, 'Continue')
    expect(await page.getByRole('alert').isVisible()).toBe(true)
    expect(await page.getByLabel('Tablet').isChecked()).toBe(true)
    await page.getByLabel('Passcode').fill(passcode('Tablet'))
    await press(page, 'Continue')
    expect(await page.getByRole('status').textContent()).toContain('mfa@example.com is signed in')
    expect(await broker.tokens.status('mfa@example.com')).toMatchObject({ state: 'valid' })
    await page.reload()
    expect(await page.getByRole('status').count()).toBe(0)
    await page.context().close()
  }, 60_000)

  it('signs in on the service’s own page, and only the account that was to', async () => {
    const { page } = await enter({})
    const signInThere = async (identity: string): Promise<string> => {
      const opened = page.context().waitForEvent('page')
      await page.getByRole('link', { name: 'Open the service’s page' }).click()
      const service = await opened
      await service.locator('[name=identity]').fill(identity)
      await service.locator('[name=credential]').fill(credential)
      await service.locator('[type=submit]').first().click()
      await service.waitForURL(/void\/callback/u)
      return service.url()
    }
    const paste = async (address: string): Promise<void> => {
      await page.getByLabel('The whole address').fill(address)
      await press(page, 'Sign in')
    }
    await page.goto('/status/sign-in/browser?account=mfa@example.com')
    await paste('https://elsewhere.example/?code=1')
    expect(await page.getByRole('alert').isVisible()).toBe(true)
    await paste(await signInThere('plain@example.com'))
    expect(await page.getByRole('alert').textContent()).toContain('is plain@example.com, not mfa@example.com')
    expect(await broker.tokens.status('plain@example.com')).toEqual({ state: 'signed-out' })
    await page.goto('/status/sign-in/browser?account=plain@example.com')
    await paste(await signInThere('plain@example.com'))
    expect(await page.getByRole('status').textContent()).toContain('plain@example.com is signed in')
    await page.context().close()
  }, 60_000)
})
