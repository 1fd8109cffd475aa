/**
 * An instance of the gateway in a process of its own, as the demo starts it.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface, type Interface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface Instance {
  readonly child: ChildProcess
  /** Its address, once it listens and has reached the store. Rejects where it ends before that. */
  readonly ready: Promise<string>
}

const main = fileURLToPath(new URL('../main.js', import.meta.url))

/**
 * @param environment - its settings; apart from them it gets only the PATH
 * @param onLine - what it logs once it is ready
 */
export function startInstance(environment: Readonly<Record<string, string>>, onLine: (line: string) => void): Instance {
  const { PATH = '' } = process.env
  const child = spawn(process.execPath, [main], {
    env: { PATH, HOST: '127.0.0.1', PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const gone = once(child, 'exit').then(() => {
    throw new Error('an instance ended before it was ready.')
  })
  const ready = Promise.race([gone, address(createInterface({ input: child.stdout }), onLine)])
  gone.catch(() => undefined)
  return { child, ready }
}

/** The address in its log; the lines after that go to `onLine`. */
function address(log: Interface, onLine: (line: string) => void): Promise<string> {
  return new Promise((resolve) => {
    let url: string | undefined
    let isConnected = false
    log.on('line', (line) => {
      if (url !== undefined && isConnected) return onLine(line)
      isConnected ||= line.includes('"event":"store-connected"')
      url ??= /"event":"listening","url":"([^"]+)"/u.exec(line)?.[1]
      if (url !== undefined && isConnected) resolve(url)
    })
  })
}
