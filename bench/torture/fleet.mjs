/** The processes of one cell: whoever dies is started again at once, as a supervisor does. */
import { fork } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('worker.mjs', import.meta.url))
/** A call that takes so many milliseconds of real time counts as one that hangs. */
const [callers, patience] = [5, 240_000]

/** @param detailsOf - what the process with this number is opened with */
export function fleetOf({ size, detailsOf, random, env }) {
  const deaths = new EventEmitter()
  const totals = { calls: 0, failed: 0, longest: 0, failures: {} }
  let isOver = false

  async function start(index) {
    const child = fork(program, { execArgv: ['--no-warnings'], env: { ...process.env, ...env }, stdio: 'ignore' })
    const waiting = new Map()
    let asked = 0
    const tell = (command, details = {}) =>
      new Promise((resolve, reject) => {
        asked += 1
        waiting.set(asked, { resolve, reject })
        child.send({ id: asked, command, ...details }, () => {})
      })
    child.on('message', ({ id, value, error }) => {
      const { resolve, reject } = waiting.get(id)
      waiting.delete(id)
      if (error === undefined) resolve(value)
      else reject(new Error(error))
    })
    child.on('error', () => {})
    const worker = { pid: child.pid, child, tell, isReady: false, asking: undefined }
    workers[index] = worker
    child.once('exit', () => {
      for (const { resolve } of waiting.values()) resolve(undefined)
      if (isOver || workers[index] !== worker) return
      if (worker.isReady) deaths.emit('death')
      void start(index)
    })
    // A program that does not come up ends, and is started again as well.
    const up = () => (worker.isReady = true)
    await tell('open', detailsOf(index)).then(up, () => child.kill('SIGKILL'))
  }

  /** One process asks. Whoever dies meanwhile has no callers any more. */
  async function ask(worker) {
    const hanging = Array.from({ length: callers }, () => ({ wait: patience, failure: 'hangs' }))
    const late = sleep(patience, hanging, { ref: false })
    const results = (await Promise.race([worker.tell('ask', { callers, after: random() * 20 }), late])) ?? []
    for (const { wait, failure } of results) {
      totals.calls += 1
      totals.longest = Math.max(totals.longest, wait)
      if (failure === undefined) continue
      totals.failed += 1
      totals.failures[failure] = (totals.failures[failure] ?? 0) + 1
    }
    if (results[0]?.failure !== 'hangs') worker.asking = undefined
    return results
  }

  const workers = []
  const ready = () => workers.filter(({ isReady }) => isReady)
  const isComplete = () => ready().length === size

  return {
    totals,
    deaths,
    async start() {
      const began = performance.now()
      for (let index = 0; index < size; index += 1) void start(index)
      while (!isComplete() && performance.now() - began < patience) await sleep(20)
      if (!isComplete()) throw new Error('It does not start')
    },
    pids: () => workers.map(({ pid }) => pid),
    signIn: (grant) => workers[0].tell('signIn', { grant }),
    jump: (made) => Promise.all(workers.map((worker) => worker.tell('jump', { made }))),
    settled: () => Promise.all(ready().map((worker) => worker.tell('settled').catch(() => {}))),
    isComplete,
    /** All ask that are not asking yet; resolves with the results of these. */
    round() {
      const idle = ready().filter(({ asking }) => asking === undefined)
      for (const worker of idle) worker.asking = ask(worker)
      return Promise.all(idle.map(({ asking }) => asking))
    },
    /** A round in which everybody would fail. */
    giveUp() {
      totals.calls += size * callers
      totals.failed += size * callers
    },
    /** Nobody is asking any more. */
    answered: () => Promise.all(workers.map(({ asking }) => asking)),
    end() {
      isOver = true
      for (const { child } of workers) child.kill('SIGKILL')
    },
  }
}
