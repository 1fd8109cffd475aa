/** A process that a test has started, and what it prints. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

export interface Program {
  readonly child: ChildProcess
  /** What it printed so far, on both streams. */
  readonly printed: () => string
  /** Resolves once it has printed this. */
  readonly prints: (pattern: RegExp) => Promise<RegExpExecArray>
  readonly exitCode: Promise<unknown>
}

export function programOf(child: ChildProcess): Program {
  let text = ''
  const heard = new EventTarget()
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      heard.dispatchEvent(new Event('print'))
    })
  }
  const prints = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const match = pattern.exec(text)
        if (match) resolve(match)
      }
      heard.addEventListener('print', look)
      child.once('close', () => reject(new Error(`It ended without ${String(pattern)}: ${text}`)))
      look()
    })
  return { child, printed: () => text, prints, exitCode: once(child, 'close').then(([code]) => code) }
}
