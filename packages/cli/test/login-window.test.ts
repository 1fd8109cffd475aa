import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { useEmulator } from '@owner-sso/emulator/jest'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals'
import { objections } from '../../../tests/support/axe.ts'
import type { Page } from '../../../tests/support/chromium.ts'
import { type Screen, startScreen } from '../../../tests/support/screen.ts'
import { credential, type Machine, useMachine, until } from './machine.ts'
import { accountsAt } from './signed-in.ts'
import {
  describeInWindow,
  keepPicture,
  prepareWindow,
  signInOn,
  type SignInWindow,
  unlessClosed,
} from './sign-in-window.ts'
import { capture, controlC, describeInTerminal, inTerminal, type Terminal } from './terminal.ts'

// A browser starts slowly where all of the suite runs.
jest.setTimeout(120_000)

const lateClock = fileURLToPath(new URL('late-clock.cjs', import.meta.url))
const slowReader = fileURLToPath(new URL('slow-reader.cjs', import.meta.url))
const redirectUri = 'owner://auth/callback'
const emulator = useEmulator({
  allowBrowsers: true,
  accounts: [
    { identity: 'plain@example.com', credential },
    {
      identity: 'human@example.com',
      credential,
      region: 'regional',
      captcha: true,
      factors: [{ name: 'Phone', totpSecret: 'KRSXG5CTMVRXEZLU' }],
    },
  ],
})
const machine = useMachine(emulator)

describeInWindow('owner-sso login --browser, in a window of its own', () => {
  let screen: Screen
  let window: SignInWindow

  beforeAll(async () => {
    screen = await startScreen()
  })
  afterAll(async () => {
    await screen[Symbol.asyncDispose]()
  })
  beforeEach(() => {
    window = prepareWindow(machine, screen)
  })
  afterEach(() => window.end())

  const login = (account: string, args: string[] = [], env: NodeJS.ProcessEnv = {}): Terminal =>
    inTerminal(machine, ['login', '--browser', '--account', account, ...args], { ...window.env, ...env })

  /** The exit code, once nothing of the browser is left; the terminal as it was before. */
  async function endOf(terminal: Terminal, name: string): Promise<number | null> {
    const { code, restored } = await terminal.end()
    capture(name, terminal)
    expect(restored).toBe(true)
    await until(window.isGone)
    return code
  }

  /** The environment of a window that shows its last page until it was read. */
  const readingSlowly = (): NodeJS.ProcessEnv => ({
    NODE_OPTIONS: `--require ${JSON.stringify(slowReader)}`,
    TEST_READ_FILE: join(machine.home, 'read'),
  })

  async function readLastPage(page: Page, heading: string, name: string): Promise<void> {
    await page.getByRole('heading', { name: heading }).waitFor()
    await keepPicture(name, page)
    expect(await objections(page, 'light')).toEqual([])
    machine.file('read', '')
  }

  it('signs in without a paste, sends nothing to the redirect address, and leaves nothing behind', async () => {
    const terminal = login('plain@example.com', [], {
      OWNER_SSO_CREDENTIAL: 'canary password',
      OWNER_SSO_ENCRYPTION_KEY: Buffer.alloc(32, 'canary').toString('base64'),
      REDISCLI_AUTH: 'canary of somebody else',
      ...readingSlowly(),
    })
    const page = await window.page()
    await terminal.shows('There is nothing to copy')
    await terminal.shows('14 min left')
    expect(await page.getByLabel('E-mail').inputValue()).toBe('plain@example.com')
    // What removes the profile in the end knows no secret of the caller either, and is in nobody's way.
    const keeper = keeperOf(machine)
    expect(readlinkSync(`${keeper}/cwd`)).toBe(join(machine.home, 'tmp'))
    expect(readFileSync(`${keeper}/environ`, 'utf8')).not.toMatch(/canary|Y2FuYXJ5|OWNER_SSO|NODE_|REDIS/u)
    expect(await page.evaluate('navigator.webdriver')).toBe(false)
    await signInOn(page, 'plain@example.com')
    await readLastPage(page, 'You are signed in', 'signed-in')
    await terminal.shows('Exchanging the code for tokens')
    await terminal.shows('Signed in as plain@example.com')
    expect(await endOf(terminal, 'plain')).toBe(0)
    expect(emulator.requests.filter(({ path }) => path.startsWith('/void'))).toEqual([])

    const { args, env } = window.started()
    expect(args.join(' ')).not.toMatch(/enable-automation|http:|remote-debugging-port/u)
    expect(args.includes('--no-sandbox')).toBe(process.getuid?.() === 0)
    expect(env).toContain(`DISPLAY=${screen.display}\n`)
    expect(env).not.toMatch(/canary|Y2FuYXJ5|^(?:OWNER_SSO|NODE_|REDIS)/imu)
  })

  it('follows to another region, lets a person solve the captcha and type a passcode, in whichever window', async () => {
    const terminal = login('human@example.com')
    const page = await window.page()
    expect(page.url()).toContain(emulator.regionalAuthUrl)
    const opened = page.waitForEvent('popup')
    await page.evaluate("void window.open(location.href, 'other', 'popup,width=500,height=600')")
    const popup = await opened
    await page.close()
    await signInOn(popup, 'human@example.com')
    await popup.getByLabel('Passcode').fill(emulator.accounts[1]?.passcode() ?? '')
    await popup.getByRole('button', { name: 'Continue' }).click({ noWaitAfter: true })
    await terminal.shows('Signed in as human@example.com')
    expect(await endOf(terminal, 'region-captcha-and-second-factor')).toBe(0)
    expect((await machine.run(['status', '--json'])).stdout).toContain(emulator.regionalAuthUrl)
  })

  it.each(['redirect', 'script'])('catches an address of an app’s own scheme: by a %s', async (how) => {
    emulator.change({ service: 'current' })
    const terminal = login('plain@example.com', ['--service', 'current'])
    const page = await window.page()
    if (how === 'redirect') await signInOn(page, 'plain@example.com')
    else await unlessClosed(page.evaluate(`location = '${redirectUri}?error=access_denied'`))
    await terminal.shows(how === 'redirect' ? 'Signed in as plain@example.com' : 'You cancelled the sign-in.')
    expect(await endOf(terminal, `own-scheme-${how}`)).toBe(how === 'redirect' ? 0 : 4)
  })

  it('stores nothing where somebody else signs in, and says so in the window', async () => {
    const terminal = login('ann@example.com', [], readingSlowly())
    const page = await window.page()
    await signInOn(page, 'plain@example.com')
    await readLastPage(page, 'You are not signed in', 'not-signed-in')
    await terminal.shows('The account that signed in is plain@example.com, not ann@example.com.')
    expect(await endOf(terminal, 'wrong-account')).toBe(3)
    expect(await accountsAt(machine)).toEqual([])
  })

  it('leaves no browser and no profile where the command is killed', async () => {
    const terminal = login('plain@example.com')
    await window.page()
    await terminal.shows('min left')
    process.kill(await terminal.pid(), 'SIGKILL')
    expect(await endOf(terminal, 'killed')).toBe(137)
  })
})

describeInTerminal('owner-sso login --browser, where there is no window', () => {
  const paste = async (args: string[], env: NodeJS.ProcessEnv): Promise<Terminal> => {
    const terminal = inTerminal(machine, ['login', ...args, '--account', 'plain@example.com'], env)
    await terminal.shows('and paste it here')
    await terminal.shows('Address')
    return terminal
  }

  it.each([
    ['no-display', ['--browser'], {}],
    ['paste', ['--paste'], { DISPLAY: ':7' }],
  ])('asks for the address: %s', async (name, args, env) => {
    const started = join(machine.home, 'started')
    const browser = machine.file('browser', `#!/bin/sh\ntouch ${started}\n`)
    const terminal = await paste(args, { ...env, OWNER_SSO_BROWSER: browser })
    terminal.type(controlC)
    expect((await terminal.end()).code).toBe(130)
    capture(name, terminal)
    expect(terminal.screen().includes('No window can open here')).toBe(name === 'no-display')
    expect(existsSync(started)).toBe(false)
  })

  it.each([
    ['ends-at-once', '#!/bin/sh\nexit 1\n'],
    ['is-no-program', 'no program'],
  ])('asks for the address where there is no browser in the end (%s), and leaves no profile', async (name, content) => {
    const browser = machine.file('browser', content)
    chmodSync(browser, 0o700)
    const temporary = join(machine.home, 'tmp')
    mkdirSync(temporary)
    const terminal = await paste(['--browser'], { DISPLAY: ':7', OWNER_SSO_BROWSER: browser, TMPDIR: temporary })
    expect(terminal.screen()).toContain('did not start')
    expect(readdirSync(temporary)).toEqual([])
    terminal.type(controlC)
    expect((await terminal.end()).code).toBe(130)
    capture(`browser-${name}`, terminal)
  })

  /** What a browser is started with that does this once it is to show a page. */
  const scripted = (does: string): NodeJS.ProcessEnv => {
    const browser = machine.file('browser', scriptedBrowser(does))
    chmodSync(browser, 0o700)
    return { DISPLAY: ':7', OWNER_SSO_BROWSER: browser, TMPDIR: machine.home }
  }
  const args = ['login', '--browser', '--account', 'plain@example.com']
  const closes = `
    for (const targetId of ['one', 'other']) event('Target.targetCreated', { targetInfo: { targetId } })
    event('Target.targetDestroyed', { targetId: 'a page of before' })
    for (const targetId of ['one', 'other']) event('Target.targetDestroyed', { targetId })`
  const goesTo = (query: string): string =>
    `event('Fetch.requestPaused', { requestId: '1', request: { url: '${emulator.authUrl}/void/callback?${query}' } })`

  it.each([
    ['closes the last window', () => closes, 4, 'The browser window was closed before you were signed in. Nothing'],
    ['cancels on the page', () => goesTo('error=login_cancelled'), 4, 'You cancelled the sign-in. Nothing was stored.'],
    [
      'ends a sign-in that was not begun here',
      () => goesTo(`code=forged&state=another&issuer=${encodeURIComponent(emulator.authUrl)}`),
      3,
      'does not belong to this sign-in',
    ],
  ])('stores nothing where the person %s', async (_what, does, exitCode, words) => {
    const { code, stderr } = await machine.run(args, { env: scripted(does()) })
    expect([code, stderr]).toEqual([exitCode, expect.stringContaining(words)])
    expect(emulator.requests.map(({ path }) => path)).not.toContain('/oauth2/v3/token')
    expect(await accountsAt(machine)).toEqual([])
  })

  it('gives a browser a profile of its own and no secret', async () => {
    await machine.run(args, { env: scripted(closes) })
    const { env: passed, folder, streams } = JSON.parse(readFileSync(join(machine.home, 'started'), 'utf8'))
    const profile = passed['TMPDIR']
    expect(profile).toMatch(new RegExp(`^${machine.home}/owner-sso-browser-\\w+$`, 'u'))
    expect(Object.keys(passed).toSorted()).toEqual(['DISPLAY', 'HOME', 'PATH', 'TMPDIR'])
    expect([folder, streams]).toEqual([machine.home, ['/dev/null', '/dev/null', '/dev/null']])
    expect(existsSync(profile)).toBe(false)
  })

  it('Ctrl-C closes the window', async () => {
    const terminal = inTerminal(machine, args, scripted(''))
    await terminal.shows('min left')
    terminal.type(controlC)
    await terminal.shows('Stopped. Nothing was stored.')
    expect(await terminal.end()).toEqual({ code: 130, restored: true })
    expect(readdirSync(machine.home).filter((name) => name.startsWith('owner-sso-browser'))).toEqual([])
  })

  it('ends with 3 where the person takes longer than 15 minutes', async () => {
    const clock = {
      NODE_OPTIONS: `--require ${JSON.stringify(lateClock)}`,
      TEST_CLOCK_FILE: join(machine.home, 'clock'),
    }
    const terminal = inTerminal(machine, args, { ...scripted(''), ...clock })
    await terminal.shows('14 min left')
    machine.file('clock', String(14 * 60))
    await terminal.shows(' s left')
    machine.file('clock', String(15 * 60))
    await terminal.shows('The sign-in took longer than 15 minutes. Nothing was stored.')
    expect((await terminal.end()).code).toBe(3)
  })

  it('says so where OWNER_SSO_BROWSER names no program', async () => {
    const env = { DISPLAY: ':7', OWNER_SSO_BROWSER: '/nowhere/chrome' }
    const { code, stderr } = await machine.run(['login', '--browser', '--account', 'plain@example.com'], { env })
    expect(code).toBe(2)
    expect(stderr).toContain('The browser that OWNER_SSO_BROWSER names is not there.')
  })
})

/** The process that removes the browser's profile, as Linux shows it. */
function keeperOf({ home }: Machine): string {
  const words = (pid: string): string => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    } catch {
      return ''
    }
  }
  const found = readdirSync('/proc').find((pid) => /window-keeper\.cjs/u.test(words(pid)) && words(pid).includes(home))
  return `/proc/${found}`
}

/** A browser that speaks the debugging protocol and shows nothing. It writes down how it was started. */
function scriptedBrowser(does: string): string {
  return `#!${process.execPath}
const { createReadStream, readlinkSync, writeFileSync, writeSync } = require('node:fs')
const streams = [0, 1, 2].map((descriptor) => readlinkSync('/proc/self/fd/' + descriptor))
const started = { env: process.env, folder: process.cwd(), streams }
writeFileSync('${join(machine.home, 'started')}', JSON.stringify(started))
const say = (message) => writeSync(4, JSON.stringify(message) + '\\0')
const event = (method, params) => say({ method, params })
let text = ''
createReadStream('', { fd: 3 }).on('data', (chunk) => {
  const messages = (text + chunk).split('\\0')
  text = messages.pop()
  for (const { id, method } of messages.map((message) => JSON.parse(message))) {
    if (method === 'Browser.close') process.exit(0)
    say({ id, result: {} })
    if (method !== 'Target.createTarget') continue
    ${does}
  }
})
`
}
