/** The inspector while thousands of requests stream in. */
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { connect } from 'node:net'
import type { Browser } from 'playwright-core'
import { describeInChromium, launchChromium } from '../../../../tests/support/chromium.ts'
import { isSoak } from '../../../../tests/support/runs.ts'
import { startEmulator, type Emulator } from '../../src/index.ts'
import { Client } from '../client.ts'
import { visit } from './inspector-page.ts'

/** As many as the emulator keeps in a soak. */
const count = isSoak ? 10_000 : 3000
const shown = (number: number): string => number.toLocaleString('en')

/** Half of them logins of their own, half requests that belong to none; all over one socket. */
async function storm(emulator: Emulator): Promise<void> {
  const socket = connect(Number(new URL(emulator.authUrl).port), '127.0.0.1')
  const query = new Client(emulator).query()
  const lines = Array.from({ length: count / 2 }, (_, index) => {
    query.set('code_challenge', String(index).padStart(43, 'x'))
    return ['/nowhere', `/oauth2/v3/authorize?${query.toString()}`].map(
      (path) => `GET ${path} HTTP/1.1\r\nHost: ${new URL(emulator.authUrl).host}\r\n\r\n`,
    )
  })
  socket.resume().write(lines.flat().join(''))
  while (emulator.requests.length < count || emulator.requests.at(-1)?.status === undefined) {
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  socket.destroy()
}

/** Milliseconds that the page's longest task computed: what it waited for a busy machine is not its fault. */
function longestTask(trace: Buffer): number {
  const { traceEvents }: { traceEvents: { readonly name: string; readonly tdur?: number }[] } = JSON.parse(
    trace.toString(),
  )
  const tasks = traceEvents.filter(({ name, tdur }) => name === 'RunTask' && tdur !== undefined)
  expect(tasks.length).toBeGreaterThan(0)
  return Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1000
}

describeInChromium('with thousands of requests', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchChromium()
  }, 60_000)
  afterAll(() => browser.close())

  it('stays responsive, holds few elements, and shows them all', async () => {
    await using emulator = await startEmulator({ firewall: false })
    const { page, complaints } = await visit(browser, emulator)
    await browser.startTracing(page, { categories: ['disabled-by-default-devtools.timeline'] })
    await storm(emulator)
    await page.getByRole('heading', { name: `${shown(count / 2 + 1)} logins` }).waitFor()
    await page
      .getByText(`${shown(count)} requests`)
      .first()
      .waitFor()

    await page.getByText(`${shown(count / 2 + -100)} older logins.`).waitFor()
    expect(await page.getByRole('list', { name: 'Logins, the newest first' }).getByRole('button').count()).toBe(101)
    await page.getByRole('button', { name: 'Requests without a login' }).click()
    await page.getByRole('button', { name: 'Show earlier requests' }).click()
    expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThan(3_000)

    // 130 ms were measured on a machine that had seven times as much to do as it could.
    expect(longestTask(await browser.stopTracing())).toBeLessThan(250)
    expect(complaints).toEqual([])
    await page.context().close()
  }, 120_000)
})
