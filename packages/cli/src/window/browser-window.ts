/**
 * A browser window for one sign-in: a fresh profile, nothing of the command's environment, and a pipe over which it is
 * watched. When it closes, no process and no file is left of it.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { startTimeLimit, withTimeLimit } from '@owner-sso/core'
import { desktopOf } from '../machine/desktop.ts'
import { type DebuggingPipe, openDebuggingPipe } from './debugging-pipe.ts'

/** Milliseconds that a browser has for its first answer: on a busy machine the first start takes long. */
const startLimit = 30_000

const closeLimit = 5000

export interface BrowserWindow {
  readonly pipe: DebuggingPipe
  readonly open: (url: string) => Promise<void>
  /** Resolves when the person has closed the last window, or the browser is gone. */
  readonly closed: Promise<void>
  /** Resolves when the browser has ended and its profile is removed. */
  readonly close: () => Promise<void>
}

/** The browser did not start, or does not let itself be watched. */
export class BrowserStartError extends Error {}

/**
 * Starts a browser that shows no window yet.
 *
 * @param program - path of a browser of the Chromium family
 * @throws BrowserStartError
 */
export async function startBrowser(program: string): Promise<BrowserWindow> {
  const profile = makeProfile()
  const browser = spawn(program, argumentsFor(profile.folder), {
    cwd: tmpdir(),
    detached: process.platform !== 'win32',
    env: environmentFor(profile.folder),
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
  })
  browser.on('error', () => undefined)
  if (browser.pid !== undefined) profile.useBy(browser.pid)
  const pipe = pipeOf(browser)
  const close = async (): Promise<void> => {
    if (browser.pid !== undefined) await endBrowser(browser, pipe)
    await profile.remove()
  }
  const endLimit = startTimeLimit(startLimit, pipe.giveUp)
  try {
    await pipe.call('Browser.getVersion')
  } catch {
    await close()
    throw new BrowserStartError(`${program} did not start.`)
  } finally {
    endLimit()
  }
  return {
    pipe,
    closed: Promise.race([pipe.ended, lastPageClosed(pipe)]),
    open: (url) => pipe.call('Target.createTarget', { url, newWindow: true }),
    close,
  }
}

function argumentsFor(profile: string): string[] {
  return [
    '--remote-debugging-pipe',
    `--user-data-dir=${profile}`,
    '--no-startup-window',
    '--window-size=760,900',
    '--no-first-run',
    '--no-default-browser-check',
    // The profile is thrown away: nothing is worth a question, a download or a key of the system's keyring.
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--password-store=basic',
    '--use-mock-keychain',
    // A person is at the keys, not a program: pages are told so, and no bar says otherwise (docs/internals/decisions.md).
    '--disable-blink-features=AutomationControlled',
    '--test-type',
    // Chromium's sandbox refuses the superuser.
    ...(process.platform === 'linux' && process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  ]
}

/** Linux browsers leave a socket among the temporary files when they are killed: there it goes with the profile. */
function environmentFor(profile: string): NodeJS.ProcessEnv {
  return { ...desktopOf(process.env), ...(process.platform === 'linux' && { TMPDIR: profile }) }
}

function pipeOf({ stdio: [, , , commands, answers] }: ChildProcess): DebuggingPipe {
  if (commands instanceof Writable && answers instanceof Readable) return openDebuggingPipe(commands, answers)
  throw new TypeError('The descriptors 3 and 4 of the browser are no pipes')
}

/** Asked first, so that no window of it vanishes unseen by its desktop; the keeper sees to what is left. */
async function endBrowser(browser: ChildProcess, pipe: DebuggingPipe): Promise<void> {
  if (browser.exitCode !== null || browser.signalCode !== null) return
  const exited = withTimeLimit(closeLimit, (signal) => once(browser, 'exit', { signal }))
  void pipe.call('Browser.close').catch(() => undefined)
  await exited.catch(() => undefined)
}

/** On macOS a browser goes on without a window. */
function lastPageClosed(pipe: DebuggingPipe): Promise<void> {
  const pages = new Set<string>()
  return new Promise((resolve) => {
    pipe.on('Target.targetCreated', ({ targetInfo }) => void pages.add(targetInfo.targetId))
    pipe.on('Target.targetDestroyed', ({ targetId }) => {
      if (pages.delete(targetId) && pages.size === 0) resolve()
    })
    pipe.call('Target.setDiscoverTargets', { discover: true, filter: [{ type: 'page' }] }).catch(() => undefined)
  })
}

interface TemporaryProfile {
  readonly folder: string
  /** Says which process uses it: it is ended with the profile. */
  readonly useBy: (browser: number) => void
  /** Ends the browser, should it still run. Resolves when the folder is gone. */
  readonly remove: () => Promise<void>
}

/** A private folder that goes when it is no longer needed, even if the command is killed. Its keeper (`keeper.ts`) runs in a session of its own, where neither Ctrl-C nor a closed terminal reaches it. */
function makeProfile(): TemporaryProfile {
  const folder = mkdtempSync(join(tmpdir(), 'owner-sso-browser-'))
  const program = fileURLToPath(new URL('window-keeper.cjs', import.meta.url))
  const keeper = spawn(process.execPath, [program, folder], {
    cwd: tmpdir(),
    detached: true,
    env: desktopOf(process.env),
    stdio: ['pipe', 'ignore', 'ignore'],
    windowsHide: true,
  })
  const done = once(keeper, 'exit').catch(() => undefined)
  keeper.stdin.on('error', () => undefined)
  return {
    folder,
    useBy: (browser) => void keeper.stdin.write(String(browser)),
    async remove() {
      keeper.stdin.end()
      await done
    },
  }
}
