import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { useEmulator } from '@owner-sso/emulator/jest'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals'
import { objections } from '../../../tests/support/axe.ts'
import type { Page } from '../../../tests/support/chromium.ts'
import { type Screen, startScreen } from '../../../tests/support/screen.ts'
import { credential, type Machine, useMachine, until } from './machine.ts'
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

  const accounts = async (): Promise<string> => (await machine.run(['accounts'])).stdout

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

  it('ends with 4 where the person cancels on the page', async () => {
    const terminal = login('plain@example.com')
    const page = await window.page()
    await unlessClosed(page.getByRole('button', { name: 'Cancel' }).click({ noWaitAfter: true }))
    await terminal.shows('You cancelled the sign-in. Nothing was stored.')
    expect(await endOf(terminal, 'cancelled')).toBe(4)
  })

  it('ends with 4 where the person closes the last window', async () => {
    const terminal = login('plain@example.com')
    const page = await window.page()
    const [context] = window.browser().contexts()
    const other = await context?.newPage()
    await page.close()
    await other?.goto(`${emulator.authUrl}/oauth2/v3/authorize`)
    await other?.close()
    await terminal.shows('The browser window was closed before you were signed in. Nothing was stored.')
    expect(await endOf(terminal, 'closed')).toBe(4)
    expect(await accounts()).toBe('')
  })

  it('stores nothing where somebody else signs in, and says so in the window', async () => {
    const terminal = login('ann@example.com', [], readingSlowly())
    const page = await window.page()
    await signInOn(page, 'plain@example.com')
    await readLastPage(page, 'You are not signed in', 'not-signed-in')
    await terminal.shows('The account that signed in is plain@example.com, not ann@example.com.')
    expect(await endOf(terminal, 'wrong-account')).toBe(3)
    expect(await accounts()).toBe('')
  })

  it('redeems no code of a sign-in that it has not begun', async () => {
    const terminal = login('plain@example.com')
    const page = await window.page()
    const forged = new URLSearchParams({ code: 'forged', state: 'another', issuer: emulator.authUrl })
    await unlessClosed(page.goto(`${emulator.authUrl}/void/callback?${forged.toString()}`))
    await terminal.shows('This address belongs to another sign-in.')
    expect(await endOf(terminal, 'another-sign-in')).toBe(3)
    expect(emulator.requests.map(({ path }) => path)).not.toContain('/oauth2/v3/token')
  })

  it('Ctrl-C closes the window', async () => {
    const terminal = login('plain@example.com')
    await window.page()
    await terminal.shows('min left')
    terminal.type(controlC)
    await terminal.shows('Stopped. Nothing was stored.')
    expect(await endOf(terminal, 'ctrl-c')).toBe(130)
  })

  it('leaves no browser and no profile where the command is killed', async () => {
    const terminal = login('plain@example.com')
    await window.page()
    await terminal.shows('min left')
    process.kill(await terminal.pid(), 'SIGKILL')
    expect(await endOf(terminal, 'killed')).toBe(137)
  })

  it('ends with 3 where the person takes longer than 15 minutes', async () => {
    const clock = join(machine.home, 'clock')
    const terminal = login('plain@example.com', [], {
      NODE_OPTIONS: `--require ${JSON.stringify(lateClock)}`,
      TEST_CLOCK_FILE: clock,
    })
    await window.page()
    await terminal.shows('14 min left')
    machine.file('clock', String(14 * 60))
    await terminal.shows(' s left')
    machine.file('clock', String(15 * 60))
    await terminal.shows('The sign-in took longer than 15 minutes. Nothing was stored.')
    expect(await endOf(terminal, 'too-late')).toBe(3)
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

  it('gives a browser a profile of its own and no secret, and takes the end of its last page for a cancel', async () => {
    const browser = machine.file('browser', scriptedBrowser())
    chmodSync(browser, 0o700)
    const env = { DISPLAY: ':7', OWNER_SSO_BROWSER: browser, TMPDIR: machine.home }
    const { code, stderr } = await machine.run(['login', '--browser', '--account', 'plain@example.com'], { env })
    expect([code, stderr]).toEqual([4, expect.stringContaining('The browser window was closed')])
    const { env: passed, folder, streams } = JSON.parse(readFileSync(join(machine.home, 'started'), 'utf8'))
    const profile = passed['TMPDIR']
    expect(profile).toMatch(new RegExp(`^${machine.home}/owner-sso-browser-\\w+$`, 'u'))
    expect(Object.keys(passed).toSorted()).toEqual(['DISPLAY', 'HOME', 'PATH', 'TMPDIR'])
    expect([folder, streams]).toEqual([machine.home, ['/dev/null', '/dev/null', '/dev/null']])
    expect(existsSync(profile)).toBe(false)
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

/** A browser whose person opens a second page, and closes both. It writes down how it was started. */
function scriptedBrowser(): string {
  return `#!${process.execPath}
const { createReadStream, readlinkSync, writeFileSync, writeSync } = require('node:fs')
const streams = [0, 1, 2].map((descriptor) => readlinkSync('/proc/self/fd/' + descriptor))
const started = { env: process.env, folder: process.cwd(), streams }
writeFileSync('${join(machine.home, 'started')}', JSON.stringify(started))
const say = (message) => writeSync(4, JSON.stringify(message) + '\\0')
const event = (name, params) => say({ method: 'Target.target' + name, params })
let text = ''
createReadStream('', { fd: 3 }).on('data', (chunk) => {
  const messages = (text + chunk).split('\\0')
  text = messages.pop()
  for (const { id, method } of messages.map((message) => JSON.parse(message))) {
    if (method === 'Browser.close') process.exit(0)
    say({ id, result: {} })
    if (method !== 'Target.createTarget') continue
    for (const targetId of ['one', 'other']) event('Created', { targetInfo: { targetId } })
    event('Destroyed', { targetId: 'a page of before' })
    for (const targetId of ['one', 'other']) event('Destroyed', { targetId })
  }
})
`
}
