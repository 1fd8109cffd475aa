/**
 * The keeper of a browser and its profile: a process that outlives the command, however that ends. Once its standard input
 * is closed, which even a killed command does, it ends the browser and removes the profile.
 *
 * A program of its own, `window-keeper.cjs`. Its argument is the profile; its input, the browser's process id.
 */
import { rmSync } from 'node:fs'

const [, , profile] = process.argv
let browser = ''

// What is said to a terminal's whole session is not meant for it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
process.stdin.setEncoding('utf8')
process.stdin.on('data', (text) => (browser += text))
process.stdin.once('end', () => {
  endBrowser(Number(browser))
  if (profile !== undefined) rmSync(profile, { recursive: true, force: true, maxRetries: 30, retryDelay: 100 })
})

/** Its whole process group, where there are such. What it would still write is thrown away. */
function endBrowser(pid: number): void {
  if (!Number.isSafeInteger(pid) || pid <= 1) return
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}
