/**
 * A place in the fleet: a worker process, and another one whenever it dies.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { startTimeLimit } from '@owner-sso/core'
import { restartAfter } from './figures.ts'
import type { WorkerReport, WorkerSettings } from './messages.ts'

const program = fileURLToPath(new URL('worker.js', import.meta.url))
/** Milliseconds that a worker has to end by itself. */
const grace = 4000

export interface WorkerProcess {
  /** Undefined while there is none. */
  readonly pid: () => number | undefined
  /** How often it was started again. */
  readonly restarts: () => number
  /** The last one of the living process. */
  readonly report: () => WorkerReport | undefined
  readonly moveClocks: (ahead: number) => void
  /** As `kill -9` does. */
  readonly kill: () => void
  /** Ends it, and starts it again with the settings of now. */
  readonly renew: () => Promise<void>
  readonly close: () => Promise<void>
}

/** @param settings - asked for at each start */
export function startWorker(settings: () => WorkerSettings): WorkerProcess {
  let child: ChildProcess | undefined
  let report: WorkerReport | undefined
  let restarts = 0
  let restart: NodeJS.Timeout | undefined

  function start(): void {
    const { PATH = '' } = process.env
    const started = fork(program, { env: { PATH, FLEET_WORKER: JSON.stringify(settings()) } })
    child = started
    started.on('message', (message: WorkerReport) => {
      if (child === started) report = message
    })
    // A message to a process that has just died: `exit` tells of it.
    started.on('error', () => undefined)
    started.once('exit', () => {
      if (child !== started) return
      forget()
      restarts += 1
      restart = setTimeout(start, restartAfter)
    })
  }

  function forget(): void {
    child = undefined
    report = undefined
  }

  async function close(): Promise<void> {
    clearTimeout(restart)
    const ending = child
    forget()
    if (ending !== undefined) await endProcess(ending)
  }

  start()
  return {
    pid: () => child?.pid,
    restarts: () => restarts,
    report: () => report,
    moveClocks: (ahead) => void child?.send({ ahead }),
    kill: () => void child?.kill('SIGKILL'),
    async renew() {
      await close()
      start()
    },
    close,
  }
}

/** Resolves when the process is gone: asked to end first, killed if that takes too long. */
export async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  const endLimit = startTimeLimit(grace, () => child.kill('SIGKILL'))
  await gone
  endLimit()
}
