/**
 * The person at the window of `owner-sso login --browser`: a real Chromium on a screen that nobody looks at. It is started by
 * the command through a script that adds a debugging port, over which the test types and clicks.
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe } from '@jest/globals'
import {
  type Browser,
  chromiumPath,
  describeInChromium,
  joinChromium,
  type Page,
} from '../../../tests/support/chromium.ts'
import { hasScreen, type Screen } from '../../../tests/support/screen.ts'
import { credential, type Machine, until } from './machine.ts'

/** `describe` where there are Chromium and Xvfb. */
export const describeInWindow: typeof describe | typeof describe.skip = hasScreen ? describeInChromium : describe.skip

/** Pictures of windows. */
const artefacts = fileURLToPath(new URL('../test-artefacts/sign-in-window/', import.meta.url))

export interface SignInWindow {
  /** What the command needs in its environment. */
  readonly env: NodeJS.ProcessEnv
  /** The first page of the window, once it shows the service. */
  readonly page: () => Promise<Page>
  readonly browser: () => Browser
  /** What the browser was started with. */
  readonly started: () => { readonly args: string[]; readonly env: string }
  /** Whether neither a process nor a file of the browser is left. */
  readonly isGone: () => boolean
  /** Ends whatever is left of it. */
  readonly end: () => Promise<void>
}

export function prepareWindow(machine: Machine, { display }: Screen): SignInWindow {
  const [args, environment, pid, temporary] = ['args', 'env', 'pid', 'tmp'].map((name) => join(machine.home, name))
  const script = [
    '#!/bin/sh',
    `printf '%s\\n' "$@" > ${args}`,
    `env > ${environment}`,
    `echo $$ > ${pid}`,
    `exec ${chromiumPath} --remote-debugging-port=0 "$@"`,
  ]
  const program = machine.file('browser', `${script.join('\n')}\n`)
  chmodSync(program, 0o700)
  mkdirSync(temporary ?? '')
  let joined: Browser | undefined
  const portFile = (): string => join(temporary ?? '', readdirSync(temporary ?? '')[0] ?? 'none', 'DevToolsActivePort')
  const runs = (): boolean => isRunning(-Number(readFileSync(pid ?? '', 'utf8')))
  return {
    env: { DISPLAY: display, OWNER_SSO_BROWSER: program, TMPDIR: temporary },
    async page() {
      await until(() => existsSync(portFile()) && readFileSync(portFile(), 'utf8').includes('\n'))
      joined = await joinChromium(Number.parseInt(readFileSync(portFile(), 'utf8'), 10))
      const pages = (): Page[] => joined?.contexts().flatMap((context) => context.pages()) ?? []
      const isService = (page: Page): boolean => page.url().includes('/oauth2/v3/authorize')
      await until(() => pages().some(isService))
      const page = pages().find(isService)
      if (page === undefined) throw new Error('The page of the service is gone')
      return page
    },
    browser() {
      if (joined === undefined) throw new Error('Nobody is at the window')
      return joined
    },
    started: () => ({
      args: readFileSync(args ?? '', 'utf8')
        .trim()
        .split('\n'),
      env: readFileSync(environment ?? '', 'utf8'),
    }),
    isGone: () => readdirSync(temporary ?? '').length === 0 && !runs(),
    async end() {
      await joined?.close().catch(() => undefined)
      if (existsSync(pid ?? '') && runs()) process.kill(-Number(readFileSync(pid ?? '', 'utf8')), 'SIGKILL')
    },
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Types e-mail and password, the letters of the captcha where there is one, and sends the form. */
export async function signInOn(page: Page, identity: string): Promise<void> {
  await page.getByLabel('E-mail').fill(identity)
  await page.getByLabel('Password').fill(credential)
  const letters = await page.locator('svg[aria-label="captcha"] text').allTextContents()
  if (letters.length > 0) await page.getByRole('textbox', { name: 'Captcha' }).fill(letters.join(''))
  await page.getByRole('button', { name: 'Sign in' }).click({ noWaitAfter: true })
}

/** What a person does last in a window, which may close before the browser could answer. */
export async function unlessClosed(act: Promise<unknown>): Promise<void> {
  await act.catch((error: unknown) => {
    if (!/closed|ERR_ABORTED|interrupted/iu.test(String(error))) throw error
  })
}

/** Keeps a picture of a page. */
export async function keepPicture(name: string, page: Page): Promise<void> {
  mkdirSync(artefacts, { recursive: true })
  await page.screenshot({ path: join(artefacts, `${name}.png`) })
}
