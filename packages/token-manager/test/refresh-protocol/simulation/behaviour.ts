/**
 * How processes behave, found out by running them: what a process does next is decided by what it was told, so each thing
 * that it can be told after another is told to a real one once, and remembered.
 *
 * That is what makes a world cheap: it is put together from what its processes did alone, in any order.
 */
import { type Process, type Said, startProcess, type Step, type Told } from './process.ts'
import type { Nature } from './scenario.ts'

/** A process after all that it was told. */
export interface Moment {
  /** No other moment has it. */
  readonly id: number
  readonly busy: number
  readonly pending: readonly Step[]
  /** What it said when it was told the last of it. */
  readonly said: readonly Said[]
  /** Nothing was told to it yet. */
  readonly isFirst: boolean
}

export interface Behaviour {
  /** A process that has just been started. */
  begin(index: number, incarnation: number): Moment
  /** What comes next; a promise where it has to be found out. */
  tell(moment: Moment, told: Told): Moment | Promise<Moment>
}

interface Remembered extends Moment {
  readonly start: () => Process
  readonly history: readonly Told[]
  readonly next: Map<string, Remembered>
}

/** So many processes are kept as they are, for the case that the next thing is told to one of them. */
const kept = 64

export function createBehaviour(nature: Nature): Behaviour {
  const first = new Map<string, Remembered>()
  const running = new Map<Remembered, Process>()
  let ids = 0

  async function processAt(moment: Remembered): Promise<Process> {
    const process = running.get(moment)
    if (process !== undefined) {
      running.delete(moment)
      return process
    }
    const replayed = moment.start()
    for (const told of moment.history) await replayed.tell(told)
    return replayed
  }

  async function findOut(moment: Remembered, told: Told): Promise<Remembered> {
    const process = await processAt(moment)
    await process.tell(told)
    const { busy, pending, said } = process
    const after: Remembered = {
      id: (ids += 1),
      busy,
      pending: [...pending.values()],
      said,
      isFirst: false,
      start: moment.start,
      history: [...moment.history, told],
      next: new Map(),
    }
    moment.next.set(told.key, after)
    running.set(after, process)
    for (const oldest of running.keys()) {
      if (running.size <= kept) break
      running.delete(oldest)
    }
    return after
  }

  return {
    begin(index, incarnation) {
      const name = `${index}.${incarnation}`
      const known = first.get(name)
      if (known !== undefined) return known
      const start = (): Process => startProcess(index, incarnation, nature)
      const moment = {
        id: (ids += 1),
        busy: 0,
        pending: [],
        said: [],
        isFirst: true,
        start,
        history: [],
        next: new Map(),
      }
      first.set(name, moment)
      return moment
    },
    tell(moment, told) {
      const from = moment as Remembered
      return from.next.get(told.key) ?? findOut(from, told)
    },
  }
}
