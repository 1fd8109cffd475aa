/** `npm run demo:fleet` after the build, in a real browser. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals'
import { type Browser, describeInChromium, launchChromium, type Page } from '../../../tests/support/chromium.ts'

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
/** Milliseconds that anything may take on a busy machine. */
const patience = 60_000
jest.setTimeout(2 * patience)

interface Demo {
  readonly child: ChildProcess
  readonly url: string
  readonly exitCode: Promise<unknown>
}

/** In a process group of its own, as the shell gives it. */
async function startDemo(path = process.env['PATH'] ?? ''): Promise<Demo> {
  const child = spawn(process.execPath, [main], {
    env: { PATH: path, PORT: '0', FLEET_ACCOUNTS: '24' },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  const exitCode = once(child, 'exit').then(([code]: unknown[]) => code)
  const url = await new Promise<string>((resolve, reject) => {
    let printed = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      printed += chunk
      const [, found] = /watch: (\S+)/u.exec(printed) ?? []
      if (found !== undefined) resolve(found)
    })
    child.once('exit', () => reject(new Error(`It ended: ${printed}`)))
  })
  return { child, url, exitCode }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describeInChromium('the demo of a fleet', () => {
  let demo: Demo
  let browser: Browser
  let page: Page
  beforeAll(async () => {
    ;[demo, browser] = await Promise.all([startDemo(), launchChromium()])
    page = await browser.newPage()
    page.setDefaultTimeout(patience)
    await page.goto(demo.url)
  })
  afterAll(async () => {
    await browser?.close()
    demo?.child.kill('SIGTERM')
    await demo?.exitCode
  })

  const shows = (text: string | RegExp): Promise<void> => page.locator('#live').getByText(text).first().waitFor()
  const pids = async (): Promise<number[]> =>
    (await page.locator('.processes strong').allTextContents()).map((text) => Number(/\d+/u.exec(text)?.[0] ?? 0))

  it('expires all accounts at once, and all get new tokens without a challenge', async () => {
    await shows('24 of 24')
    expect(await page.locator('.field .cell').count()).toBe(24)
    await page.getByRole('button', { name: 'Expire all at once' }).click()
    await page.locator('.field .t0').first().waitFor()
    await shows('Everybody works.')
    expect(await page.locator('.field .t0').count()).toBe(0)
    expect(await page.locator('dl > div', { hasText: 'Firewall challenges' }).locator('dd').textContent()).toBe('0')
  })

  it('goes on when a process is killed, and starts it again', async () => {
    const before = await pids()
    await page.getByRole('button', { name: 'Kill a process' }).click()
    await page.locator('.processes .dead').waitFor()
    expect(before.filter(isAlive)).toHaveLength(3)
    await page.getByRole('button', { name: 'Expire all at once' }).click()
    await page.locator('.field .t0').first().waitFor()
    await shows('Everybody works.')
    await shows('started again: 1')
  })

  it('takes its buttons from its own page alone', async () => {
    const press = (headers: Record<string, string>): Promise<Response> =>
      fetch(`${demo.url}/night`, { method: 'POST', headers, redirect: 'manual' })
    expect((await press({ origin: 'http://elsewhere.example' })).status).toBe(403)
    expect((await press({})).status).toBe(403)
    expect((await fetch(demo.url.replace('127.0.0.1', 'localhost'))).status).toBe(421)
  })

  it('leaves no process behind when Ctrl-C ends it', async () => {
    await page.locator('.processes .alive').nth(3).waitFor()
    const alive = await pids()
    expect(alive.every(isAlive)).toBe(true)
    // As the terminal does, to the whole group; and once more by the package manager.
    process.kill(-(demo.child.pid ?? 0), 'SIGINT')
    demo.child.kill('SIGINT')
    expect(await demo.exitCode).toBe(0)
    expect(alive.filter(isAlive)).toEqual([])
    expect(() => process.kill(-(demo.child.pid ?? 0), 0)).toThrow('ESRCH')
  })
})

it('keeps its tokens in a folder on a machine without Redis', async () => {
  const demo = await startDemo('/nowhere')
  try {
    expect(await (await fetch(demo.url)).text()).toContain('of 24')
  } finally {
    demo.child.kill('SIGTERM')
  }
  expect(await demo.exitCode).toBe(0)
})
