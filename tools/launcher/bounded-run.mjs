/**
 * A test run that ends, whatever a test leaves open: a server that still listens, a child process that still writes.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'

/** Seconds that Jest may take to end after its results are written. */
const secondsToEnd = 20

/**
 * Runs a command in a process group of its own, which is killed when the command ends, when its time is over, and some
 * seconds after it has written its results.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ minutes: number, results: string }} limits - `results`: the file that it writes at the end
 * @returns {Promise<number>} its exit code; 1 where it had to be ended
 */
export async function boundedRun(command, args, { minutes, results }) {
  rmSync(results, { force: true })
  const child = spawn(command, args, { detached: process.platform !== 'win32', stdio: ['ignore', 'ignore', 'inherit'] })
  const end = () => endGroup(child)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => (end(), process.exit(1)))

  const started = Date.now()
  let written
  const watch = setInterval(() => {
    if (existsSync(results)) written ??= Date.now()
    if (written !== undefined && Date.now() - written > secondsToEnd * 1000) {
      console.error('The tests are over, but their process does not end: a test left something open. It is ended now.')
      end()
    } else if (Date.now() - started > minutes * 60_000) {
      console.error(`The tests did not end within ${minutes} minutes: one of them hangs. They are ended now.`)
      end()
    }
  }, 1000)
  const [status] = await once(child, 'exit')
  clearInterval(watch)
  end()
  return status ?? 1
}

/** Ends a child process and all that it has started. */
function endGroup({ pid }) {
  if (pid === undefined) return
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL')
  } catch {
    // It has ended, and all that it started.
  }
}
