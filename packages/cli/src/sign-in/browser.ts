/**
 * Opens an address in the person's browser, where there is one.
 */
import { spawn } from 'node:child_process'
import { desktopOf, hasDisplay } from '../window/desktop.ts'

/** @returns whether it was tried. That it fails is no failure of ours: the address is printed as well. */
export function openInBrowser(url: string, env: NodeJS.ProcessEnv = process.env): boolean {
  const command = opener(env)
  if (command === undefined) return false
  const [program, ...args] = command
  const child = spawn(program, [...args, url], { detached: true, stdio: 'ignore', env: desktopOf(env) })
  child.on('error', () => undefined)
  child.unref()
  return true
}

function opener(env: NodeJS.ProcessEnv): readonly [string, ...string[]] | undefined {
  if (process.platform === 'darwin') return ['open']
  // `start` is a word of cmd.exe, which would take the & of an address for its own.
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  return hasDisplay(env) ? ['xdg-open'] : undefined
}
