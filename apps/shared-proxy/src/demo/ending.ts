/**
 * How the demo ends what it started: the newest first.
 */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

export interface Ending {
  /** Keeps in mind how something is ended, from the moment that it has begun. */
  readonly with: (end: () => Promise<unknown> | void) => void
  readonly all: () => Promise<void>
}

export function createEnding(): Ending {
  const ends: (() => Promise<unknown> | void)[] = []
  return {
    with: (end) => void ends.push(end),
    async all() {
      for (let end = ends.pop(); end; end = ends.pop()) await end()
    },
  }
}

/** Resolves when the process is gone. */
export async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  await gone
}
