/** The pages that a person sees, in a real Chromium: on a phone, in light and dark, by mouse and keyboard. */
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { objections } from '../../../../tests/support/axe.ts'
import { describeInChromium, launchChromium } from '../../../../tests/support/chromium.ts'
import { demoAccounts } from '../../src/index.ts'
import { useEmulator } from '../../src/jest.ts'
import { Client, demoCredential } from '../client.ts'

const captchaAccount = { identity: 'captcha@example.com', credential: demoCredential, captcha: true } as const

describeInChromium('the pages in a real Chromium', () => {
  const accounts = [...demoAccounts, captchaAccount]
  const emulator = useEmulator({ accounts, allowBrowsers: true, mfaAt: 'form-submission' })
  let browser: Browser
  beforeAll(async () => {
    browser = await launchChromium()
  }, 60_000)
  afterAll(() => browser.close())

  async function openPage(options: BrowserContextOptions): Promise<Page> {
    const context = await browser.newContext({ baseURL: emulator.authUrl, ...options })
    return context.newPage()
  }

  function loginPage(login_hint: string): string {
    return `/oauth2/v3/authorize?${new Client(emulator).query({ login_hint }).toString()}`
  }

  it.each(['light', 'dark'] as const)(
    'fit on a phone, and leave axe nothing to object to in %s',
    async (colorScheme) => {
      const page = await openPage({ viewport: { width: 360, height: 740 }, isMobile: true, colorScheme })
      const found: string[] = []
      const look = async (): Promise<void> => {
        expect([page.url(), await page.evaluate('document.documentElement.scrollWidth - innerWidth')]).toEqual([
          page.url(),
          0,
        ])
        found.push(...(await objections(page, colorScheme)))
      }
      const signIn = async (credential: string): Promise<void> => {
        await page.getByLabel('Password').fill(credential)
        await page.getByRole('button', { name: 'Sign in' }).click()
      }
      for (const path of ['/', '/nowhere', '/void/callback?code=x', loginPage(captchaAccount.identity)]) {
        await page.goto(path)
        await look()
      }
      await page.goto(loginPage('mfa@example.com'))
      await signIn('mistyped')
      await page.getByRole('alert').waitFor()
      await look()
      await signIn(demoCredential)
      await page.getByRole('option', { name: 'Device #1' }).waitFor({ state: 'attached' })
      await look()
      await page.getByLabel('Passcode').fill('000000')
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.getByRole('alert').waitFor()
      await look()
      expect(found).toEqual([])
      await page.context().close()
    },
    60_000,
  )

  it('let a person sign in with the keyboard alone', async () => {
    const page = await openPage({})
    const press = async (...keys: readonly string[]): Promise<void> => {
      for (const key of keys) await page.keyboard.press(key)
    }
    await page.goto(loginPage('mfa@example.com'))
    await press('Tab', 'Tab')
    await page.keyboard.type(demoCredential)
    await press('Enter')
    const device = page.getByLabel('Device')
    await page.getByRole('option', { name: 'Tablet' }).waitFor({ state: 'attached' })
    await press('Tab', 'ArrowDown')
    expect(await device.locator('option:checked').textContent()).toBe('Tablet')
    await press('Tab')
    await page.keyboard.type(emulator.account('mfa@example.com').passcode('Tablet'))
    await press('Enter')
    await page.waitForURL(/void\/callback\?code=/u)
    await page.context().close()
  }, 60_000)
})
