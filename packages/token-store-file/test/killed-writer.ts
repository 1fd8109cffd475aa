/** A real process that writes to a store, and is killed at any moment. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const script = fileURLToPath(new URL('../test-artefacts/programs/writer-process.js', import.meta.url))

/**
 * Starts the writer, lets it acknowledge some versions, and kills it with SIGKILL wherever it is by then.
 *
 * @param delay - milliseconds between the acknowledgement that is waited for and the kill
 */
export async function killedWriter(
  path: string,
  account: string,
  acknowledgements: number,
  { delay = 0 }: { delay?: number } = {},
): Promise<{ acknowledged: number }> {
  const child = spawn(process.execPath, [script, path, account], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  let heard = 0
  child.stdout.setEncoding('utf8')
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error('the writer ended by itself')))
    child.stdout.on('data', (chunk: string) => {
      text += chunk
      heard += chunk.split('\n').length - 1
      if (heard >= acknowledgements) setTimeout(resolve, delay)
    })
  })
  child.removeAllListeners('exit')
  const closed = once(child, 'close')
  child.kill('SIGKILL')
  await closed
  return { acknowledged: Number(text.trimEnd().split('\n').at(-1)) }
}
