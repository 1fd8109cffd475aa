/** The inspector's switches in a real Chromium: each does what its words say, to the emulator itself. */
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import type { Browser, Page } from 'playwright-core'
import { describeInChromium, launchChromium } from '../../../../tests/support/chromium.ts'
import { useEmulator } from '../../src/jest.ts'
import { Client } from '../client.ts'
import { visit } from './inspector-page.ts'

describeInChromium('the switches of the inspector', () => {
  const emulator = useEmulator()
  let browser: Browser
  beforeAll(async () => {
    browser = await launchChromium()
  }, 60_000)
  afterAll(() => browser.close())

  async function withSwitches(use: (page: Page) => Promise<void>): Promise<void> {
    const { page, complaints } = await visit(browser, emulator)
    await page.getByRole('tab', { name: 'Switches' }).click()
    await page.getByRole('heading', { name: 'Scenario' }).waitFor()
    await use(page)
    expect(complaints).toEqual([])
    await page.context().close()
  }

  /** Does what changes the emulator, and waits for its answer. */
  async function change(page: Page, act: () => Promise<unknown>): Promise<void> {
    const answered = page.waitForResponse((answer) => answer.request().method() !== 'GET')
    await act()
    await answered
  }

  async function statusOfLoginPage(): Promise<number> {
    return (await new Client(emulator).open()).page.status
  }

  it('apply a scenario, and put everything back', async () => {
    await withSwitches(async (page) => {
      await page.getByRole('combobox', { name: 'Scenario' }).selectOption('service-down')
      await page.getByText('Every request is answered with 503.').waitFor()
      await page.getByRole('button', { name: 'Play' }).click()
      await page.getByText('Applied: service-down').waitFor()
      expect(await statusOfLoginPage()).toBe(503)
      await page.getByRole('button', { name: 'Reset all' }).click()
      await page.getByText('Applied').waitFor({ state: 'detached' })
      expect(await statusOfLoginPage()).toBe(200)
    })
  })

  it('move, stop and restore the clock', async () => {
    await withSwitches(async (page) => {
      await page.getByRole('button', { name: '+8 h' }).click()
      await page.getByText(/^8 h 0 min ahead/u).waitFor()
      expect(emulator.clock.offset).toBeCloseTo(28_800, -1)
      // Not check(): the switch shows what the emulator says, which is the old state until its answer is there.
      await page.getByRole('switch', { name: 'Frozen' }).click()
      await page.getByText('frozen', { exact: true }).waitFor()
      expect(emulator.clock.frozen).toBe(true)
      await page.getByRole('button', { name: 'Machine’s time' }).click()
      await page.getByText('As the machine’s own.').waitFor()
      expect([emulator.clock.frozen, emulator.clock.offset]).toEqual([false, 0])
    })
  })

  it('let the firewall block everybody, and lift it', async () => {
    await withSwitches(async (page) => {
      await page.getByRole('button', { name: 'Block everybody' }).click()
      await page.getByText('blocking').waitFor()
      expect(await statusOfLoginPage()).toBe(403)
      await page.getByRole('button', { name: 'Lift every block' }).click()
      await page.getByText('blocking').waitFor({ state: 'detached' })
      expect(await statusOfLoginPage()).toBe(200)
    })
  })

  it('order a fault for the next request, or for every one until it is cleared', async () => {
    await withSwitches(async (page) => {
      await page.getByRole('combobox', { name: 'Endpoint' }).selectOption('login-page')
      await page.getByRole('combobox', { name: 'Kind of fault' }).selectOption('Service unavailable')
      await page.getByRole('button', { name: 'Next request' }).click()
      await page.getByText('next {"status":503}').waitFor()
      expect([await statusOfLoginPage(), await statusOfLoginPage()]).toEqual([503, 200])
      await page.getByRole('textbox', { name: 'Fault as JSON' }).fill('{"status":502}')
      await page.getByRole('button', { name: 'Every request' }).click()
      await page.getByText('every {"status":502}').waitFor()
      expect([await statusOfLoginPage(), await statusOfLoginPage()]).toEqual([502, 502])
      await page.getByRole('button', { name: 'Clear the faults of login-page' }).click()
      await page.getByText('every {"status":502}').waitFor({ state: 'detached' })
      expect(await statusOfLoginPage()).toBe(200)
    })
  })

  it('lock an account, show it a captcha, move it to the other region', async () => {
    await withSwitches(async (page) => {
      const account = emulator.accounts.find(({ identity }) => identity === 'plain@example.com')
      const group = page.getByRole('group', { name: 'plain@example.com' })
      const captcha = group.getByRole('combobox', { name: 'Captcha of plain@example.com' })
      const region = group.getByRole('combobox', { name: 'Region of plain@example.com' })
      await change(page, () => group.getByRole('switch', { name: 'Locked' }).click())
      await change(page, () => captcha.selectOption('captcha'))
      await change(page, () => region.selectOption('other region'))
      expect(account).toMatchObject({ locked: true, captcha: true, region: 'regional' })
    })
  })

  it('change an option, by choice or as JSON, put it back, and say what it takes', async () => {
    await withSwitches(async (page) => {
      const status = async (): Promise<number> =>
        (await new Client(emulator).authorize('plain@example.com', 'wrong')).answer.status
      await page.getByLabel('wrongCredentials').selectOption('200')
      await page.getByRole('button', { name: 'Put wrongCredentials back' }).waitFor()
      expect(await status()).toBe(200)
      await page.getByRole('button', { name: 'Put wrongCredentials back' }).click()
      await page.getByRole('button', { name: 'Put wrongCredentials back' }).waitFor({ state: 'detached' })
      expect(await status()).toBe(401)

      const expiresIn = page.getByLabel('expiresIn')
      await expiresIn.fill('"soon"')
      await expiresIn.press('Enter')
      await page.getByRole('button', { name: 'Put expiresIn back' }).waitFor()
      expect(await new Client(emulator).login('plain@example.com')).toMatchObject({ expires_in: 'soon' })
      await page.getByLabel('accessTokenLifetime').fill('"never"')
      await page.getByLabel('accessTokenLifetime').press('Enter')
      expect(await page.getByRole('alert').filter({ hasText: 'accessTokenLifetime' }).textContent()).toContain(
        'must be',
      )
      await page.getByLabel('accessTokenLifetime').fill('{')
      await page.getByLabel('accessTokenLifetime').press('Enter')
      await page.getByText('Write it as JSON: a number of seconds').waitFor()
    })
  })
})
