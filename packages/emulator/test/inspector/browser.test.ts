/** The inspector in a real Chromium: a login with a passcode over a region, live, in light and dark, by mouse and keyboard. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Browser, Page } from 'playwright-core'
import { objections } from '../../../../tests/support/axe.ts'
import { describeInChromium, launchChromium } from '../../../../tests/support/chromium.ts'
import { demoAccounts, startEmulator } from '../../src/index.ts'
import { useEmulator } from '../../src/jest.ts'
import { Client, demoCredential } from '../client.ts'
import { callOwnerApi, loginOverRegion, visit, type RegionalLogin } from './inspector-page.ts'

const travellingAccount = {
  identity: 'traveller@example.com',
  credential: demoCredential,
  region: 'regional',
  factors: [{ name: 'Phone', totpSecret: 'JBSWY3DPEHPK3PXP' }],
} as const

describeInChromium('the inspector in a real Chromium', () => {
  const emulator = useEmulator({ accounts: [...demoAccounts, travellingAccount] })
  let browser: Browser
  beforeAll(async () => {
    browser = await launchChromium()
  }, 60_000)
  afterAll(() => browser.close())

  /** Some of everything: logins that succeed, that fail, that meet the firewall and a fault. */
  async function everything(): Promise<RegionalLogin> {
    await new Client(emulator).login('plain@example.com')
    await new Client(emulator, { userAgent: 'Mozilla/5.0' }).open({ login_hint: 'mfa@example.com' })
    await new Client(emulator).authorize('plain@example.com', 'wrong')
    const login = await loginOverRegion(emulator, travellingAccount.identity)
    await callOwnerApi(emulator, login.tokens['access_token'])
    emulator.once('refresh', { drop: 'after-commit' })
    await login.client.refresh(login.tokens['refresh_token']).catch(() => undefined)
    await login.client.refresh(login.tokens['refresh_token'])
    return login
  }

  function requestNamed(page: Page, name: RegExp): ReturnType<Page['getByRole']> {
    return page.getByRole('list', { name: 'Requests, in order' }).getByRole('button', { name })
  }

  function loginNamed(page: Page, name: RegExp): ReturnType<Page['getByRole']> {
    return page.getByRole('list', { name: 'Logins, the newest first' }).getByRole('button', { name })
  }

  /** Waits until the page shows the last request of `everything`, and so all of them: with its answer, not only begun. */
  function arrived(page: Page): Promise<void> {
    return requestNamed(page, /400\s.*a spent refresh token was presented again/u).waitFor()
  }

  /** Each row of the diagram as a reader hears it. */
  async function story(page: Page): Promise<string[]> {
    const rows = await page.getByRole('list', { name: 'Requests, in order' }).getByRole('listitem').allTextContents()
    return rows.map((row) =>
      row
        .replaceAll(/\+[\d.]+ m?s|[\d.]+ m?s/gu, ' ')
        .replaceAll(/\s+/gu, ' ')
        .trim(),
    )
  }

  it('shows a login with a passcode over a region while it happens, fault and firewall by word as well', async () => {
    const { page, complaints } = await visit(browser, emulator)
    await page.getByRole('heading', { name: 'No request yet' }).waitFor()
    await everything()
    await arrived(page)
    expect(await story(page)).toEqual([
      'GET /oauth2/v3/authorize to the SSO service: 303 the account lives in the other region',
      'GET /oauth2/v3/authorize to the Other region: 200 a session began: the login page',
      'POST /oauth2/v3/authorize to the Other region: 302 a code issued, the passcode is due at the exchange',
      'POST /oauth2/v3/token to the Other region: 200 the account has a second factor: the passcode page',
      'GET /oauth2/v3/authorize/mfa/factors to the Other region: 200 one factor listed',
      'POST /oauth2/v3/authorize/mfa/verify to the Other region: 200 wrong passcode, 1 of 5',
      'POST /oauth2/v3/authorize/mfa/verify to the Other region: 200 the passcode of Phone is right',
      'POST /oauth2/v3/authorize to the Other region: 302 signed in: a code issued',
      'POST /oauth2/v3/token to the Other region: 200 tokens issued',
      'GET /api/1/vehicles to the Owner API: 200 the access token is good',
      'POST /oauth2/v3/token to the Other region: ✕ connection cut Fault: drop: after-commit tokens issued, the refresh token rotated',
      'POST /oauth2/v3/token to the Other region: 400 a spent refresh token was presented again',
    ])

    await loginNamed(page, /mfa@example\.com/u).click()
    expect(await story(page)).toEqual([
      expect.stringMatching(/: 403 Firewall challenged by the firewall: its User-Agent is a browser’s$/u),
    ])
    expect(complaints).toEqual([])
    await page.context().close()
  }, 60_000)

  describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
    it('leaves axe nothing to object to', async () => {
      const { page } = await visit(browser, emulator, { colorScheme, bypassCSP: true })
      expect(await objections(page, colorScheme)).toEqual([])
      await everything()
      await arrived(page)
      await requestNamed(page, /signed in/u).click()
      await page.getByText('credential').waitFor()
      expect(await objections(page, colorScheme)).toEqual([])
      await page.context().close()
    }, 60_000)
  })

  it('fits on a phone', async () => {
    const { page } = await visit(browser, emulator, { viewport: { width: 390, height: 800 }, isMobile: true })
    await everything()
    await arrived(page)
    await requestNamed(page, /signed in/u).click()
    await page.getByText('credential').waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
    await page.context().close()
  })

  it('shows what was said, and holds no secret of it', async () => {
    const { page } = await visit(browser, emulator)
    const { secrets } = await everything()
    await arrived(page)
    await requestNamed(page, /signed in/u).click()
    await page.getByText('credential').waitFor()
    const markup = await page.content()
    expect(markup).toContain('••••••')
    expect([...secrets].filter((secret) => secret === '' || markup.includes(secret))).toEqual([])
    expect(page.url()).toBe(`${emulator.authUrl}/_emulator`)
    await page.context().close()
  })

  it('is operated with the keyboard alone', async () => {
    const { page } = await visit(browser, emulator)
    await everything()
    await arrived(page)
    const focused = (): Promise<string> => page.evaluate('document.activeElement.textContent.trim()')
    const press = async (...keys: readonly string[]): Promise<void> => {
      for (const key of keys) await page.keyboard.press(key)
    }

    await press('Tab')
    expect(await focused()).toBe('Skip to the login')
    await press('Tab', 'Tab', 'Tab', 'Enter')
    expect(await focused()).toContain('the login page again')
    await page.getByRole('heading', { level: 2, name: 'plain@example.com' }).waitFor()
    await page.getByRole('main').focus()
    await press('Tab')
    expect(await focused()).toContain('a session began')
    await press('Enter')
    await page.getByText('code_challenge_method').waitFor()

    await page.context().close()
  })

  it.each([{ tls: true }, { tls: true, http2: true }])('opens, live, over %j', async (options) => {
    await using secured = await startEmulator(options)
    const { page, complaints } = await visit(browser, secured, { ignoreHTTPSErrors: true })
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it('says that the emulator is gone, and begins anew with the next one at its address', async () => {
    const first = await startEmulator()
    const { page } = await visit(browser, first)
    await new Client(first).login('plain@example.com')
    await page.getByText('tokens issued').first().waitFor()
    await first.close()
    await page.getByText('Not connected: trying again').waitFor()
    await using second = await startEmulator({ port: Number(new URL(first.authUrl).port) })
    await new Client(second).authorize('plain@example.com', 'wrong')
    await loginNamed(page, /the login page again/u).waitFor()
    expect(await loginNamed(page, /./u).count()).toBe(1)
    await page.context().close()
  }, 60_000)
})
