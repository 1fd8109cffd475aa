/** The inspector in a real Chromium. */
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import type { Browser } from 'playwright-core'
import { describeInChromium, launchChromium } from '../../../workspace/chromium.ts'
import { DEMO_ACCOUNTS } from '../../src/index.ts'
import { useEmulator } from '../../src/jest.ts'
import { artefacts, callOwnerApi, loginOverRegion, visit } from './inspector-page.ts'
import { Client } from '../client.ts'

const TRAVELLER = {
  identity: 'traveller@example.com',
  credential: 'correct horse',
  region: 'regional',
  totpSecret: 'JBSWY3DPEHPK3PXP',
} as const

describeInChromium('the inspector in a real Chromium', () => {
  const emulator = useEmulator({ accounts: [...DEMO_ACCOUNTS, TRAVELLER] })
  let browser: Browser

  beforeAll(async () => {
    browser = await launchChromium()
  }, 60_000)
  afterAll(() => browser.close())

  it.each(['light', 'dark'] as const)('shows (%s)', async (colorScheme) => {
    const { page, complaints } = await visit(browser, emulator, { colorScheme })
    await new Client(emulator).login('plain@example.com')
    await new Client(emulator, { userAgent: 'Mozilla/5.0' }).open({ login_hint: 'mfa@example.com' })
    await new Client(emulator).authorize('plain@example.com', 'wrong')
    const { client, tokens } = await loginOverRegion(emulator, TRAVELLER.identity)
    await callOwnerApi(emulator, tokens['access_token'])
    emulator.once('refresh', { drop: 'after-commit' })
    await client.refresh(tokens['refresh_token']).catch(() => undefined)
    await client.refresh(tokens['refresh_token'])
    await page.getByText('a spent refresh token').last().waitFor()
    await page.screenshot({ path: `${artefacts}inspector-${colorScheme}.png` })
    await page.getByRole('button', { name: /POST.*token/u }).first().click()
    await page.getByText('code_verifier').waitFor()
    await page.screenshot({ path: `${artefacts}inspector-open-${colorScheme}.png` })
    await page.getByRole('tab', { name: 'Switches' }).click()
    await page.getByRole('heading', { name: 'Scenario' }).waitFor()
    await page.screenshot({ path: `${artefacts}inspector-switches-${colorScheme}.png` })
    expect(complaints).toEqual([])
    await page.context().close()
  }, 60_000)
})
