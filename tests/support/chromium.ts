/** A real Chromium, where there is one. */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe } from '@jest/globals'
import { type Browser, chromium } from 'playwright-core'

export type { Browser, Page } from 'playwright-core'

const names = ['chromium', 'chromium-browser', 'google-chrome']

function executable(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const path = executable()
if (path === undefined) {
  console.warn(
    'chromium is missing, so nothing was tried in a browser. Get it with: apt-get install chromium (Debian).',
  )
}

/** Skipped without a Chromium; under CI=true a failure instead. */
export const describeInChromium: typeof describe | typeof describe.skip =
  path !== undefined || process.env['CI'] === 'true' ? describe : describe.skip

/** Its path; undefined where there is none. */
export const chromiumPath: string | undefined = path

/** Joins one that somebody else has started, with `--remote-debugging-port`. */
export function joinChromium(port: number): Promise<Browser> {
  return chromium.connectOverCDP(`http://127.0.0.1:${port}`)
}

/** Starts it with a profile of its own that it removes when it closes. */
export function launchChromium(): Promise<Browser> {
  if (path === undefined) throw new Error('chromium is missing: install it (Debian: apt-get install chromium).')
  return chromium.launch({
    executablePath: path,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}
