/**
 * A fresh profile for one browser: a private folder that goes when it is no longer needed, even if the command is killed.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { desktopOf } from '../machine/desktop.ts'

export interface TemporaryProfile {
  readonly folder: string
  /** Says which process uses it: it is ended with the profile. */
  readonly useBy: (browser: number) => void
  /** Ends the browser, should it still run. Resolves when the folder is gone. */
  readonly remove: () => Promise<void>
}

/** Its keeper (`keeper.ts`) runs in a session of its own, where neither Ctrl-C nor a closed terminal reaches it. */
export function makeProfile(): TemporaryProfile {
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
