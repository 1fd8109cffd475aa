/** A screen that nobody looks at, for programs with windows: Xvfb. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'

/** Whether there can be one. Under CI there is, or its tests fail. */
export const hasScreen: boolean = spawnSync('Xvfb', ['-help']).error === undefined || process.env['CI'] === 'true'
if (!hasScreen) console.warn('Skipped: what needs Xvfb, which is not on the PATH (apt-get install xvfb).')

export interface Screen extends AsyncDisposable {
  /** For the variable DISPLAY. */
  readonly display: string
}

export async function startScreen(): Promise<Screen> {
  const server = spawn('Xvfb', ['-displayfd', '1', '-screen', '0', '1000x1000x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const exited = once(server, 'exit')
  const [number] = await Promise.race([once(server.stdout, 'data'), exited.then(() => ['none'])])
  return {
    display: `:${String(number).trim()}`,
    async [Symbol.asyncDispose]() {
      server.kill('SIGKILL')
      await exited
    },
  }
}
