/**
 * How processes behave, by the machine alone: a thin driver that is a value, as all else in a simulated world. Two processes
 * that have come to know the same, by whatever way, are the same moment; so far more is seen than with real token managers
 * (`behaviour.ts`), whose moments are known by what they were told.
 *
 * There is no firewall, no spool and no hot path in it.
 */
import { hash } from 'node:crypto'
import { SignedOutError, StoreError, UnreachableError } from '../../../src/errors.ts'
import type { TokenSet } from '../../../src/issuer/token-set.ts'
import {
  accessTokenOf,
  freshnessOf,
  isUsable,
  type Knowledge,
  type Moment as Present,
  nothingKnown,
} from '../../../src/kernel/knowledge.ts'
import { type Outcome, outcomeOfFailure, SendGuardError } from '../../../src/kernel/outcome.ts'
import { isJustRefreshed } from '../../../src/kernel/pace.ts'
import { elapsed, type Instant } from '../../../src/support/runtime.ts'
import type { Begun, Event, Send, Step as MachineStep, Task } from '../../../src/kernel/steps.ts'
import type { Conflict, Versioned } from '../../../src/store/token-store.ts'
import type { AccountRecord } from '../../../src/store/token-record.ts'
import type { Behaviour, Moment } from './behaviour.ts'
import type { Call, Said, Step, Told } from './process.ts'
import { account, type Nature } from './scenario.ts'
import type { Answer } from './service.ts'

/** A process, as a value. */
interface Mind {
  readonly knowledge: Knowledge
  readonly runs: readonly Run[]
  readonly calls: readonly Waiting[]
  /** The run of the refresh under way, and whether nobody waited for it when it was begun. */
  readonly flight: { readonly run: number; readonly isBackground: boolean } | undefined
  /** Unique ids so far. */
  readonly ids: number
}

/** A flow on its way, and what it waits for. */
interface Run {
  readonly id: number
  readonly task: Task
  /** Of a timer: when it fires, by the monotonic clock. */
  readonly due?: number
  /** Of a request that has left: when; of a look: when it began. */
  readonly at?: Instant
}

/** A call that waits for its answer: for its own run, or for the refresh under way. */
interface Waiting {
  readonly call: Call
  readonly run?: number
  readonly stage?: 'synced' | 'first' | 'second'
}

interface Known extends Moment {
  readonly mind: Mind
  readonly index: number
  readonly incarnation: number
  readonly next: Map<string, Known>
}

const minRefreshInterval = 60_000

export function createMachineBehaviour({ machine, sameHost, rotationGrace, elsewhere }: Nature): Behaviour {
  const moments = new Map<string, Known>()
  const settings = { refreshAfter: 0.75, minRefreshInterval, rotationGrace: rotationGrace * 1000, outlivesCalls: true }

  function momentOf(index: number, incarnation: number, mind: Mind, said: readonly Said[], isFirst: boolean): Known {
    const text = `${index}.${incarnation}.${isFirst} ${textOf(mind)} ${said.map(wordsFor).join()}`
    // Of a hundred thousand moments the texts alone would take half a gigabyte.
    const name = hash('sha1', text, 'base64')
    const known = moments.get(name)
    if (known !== undefined) return known
    const pending = mind.runs.map((run) => stepFor(index, run))
    const busy = mind.calls.length
    const moment = { id: moments.size, busy, pending, said, isFirst, mind, index, incarnation, next: new Map() }
    moments.set(name, moment)
    return moment
  }

  function after({ mind: before, index, incarnation }: Known, { what, answer, times, incarnations }: Told): Known {
    let mind = before
    let said: Said[] = []
    const say = (words: Said): void => void (said = [...said, words])
    const present = (): Present => ({
      ...times,
      settings: { ...settings, refreshesElsewhere: elsewhere.includes(index) },
      holder: { pid: index, started: String(incarnation) },
      livenessOf: ({ pid, started }) => {
        if (!sameHost) return 'unknown'
        return started === String(incarnations[pid]) ? 'running' : 'dead'
      },
      uniqueId() {
        mind = { ...mind, ids: mind.ids + 1 }
        return `${index}.${incarnation}-${mind.ids}`
      },
      isEnding: mind.calls.some(({ call }) => call === 'settle'),
    })
    const set = (change: Partial<Mind>): void => void (mind = { ...mind, ...change })
    const freeId = (least = 0): number => mind.runs.reduce((free, { id }) => Math.max(free, id + 1), least)

    /** What the machine makes of an event. */
    function stepOf(event: Event): MachineStep {
      const step = machine.step(mind.knowledge, event, present())
      // Whatever changes it instead of replacing it fails here.
      set({ knowledge: Object.freeze(step.knowledge) })
      return step
    }
    const note = (event: Event): void => void stepOf(event)

    function begin(flow: Begun): number {
      const id = freeId()
      goOn(id, { on: 'begun', flow })
      return id
    }

    function goOn(id: number, first: Event): void {
      let event: Event | undefined = first
      while (event !== undefined) {
        const { next, beside }: MachineStep = stepOf(event)
        if (beside !== undefined) wait(freeId(id + 1), beside)
        if (mind.flight?.run === id && (next.do === 'watch' || next.do === 'enter' || next.do === 'end')) synced()
        if (next.do === 'end') return ended(id, next.error)
        event = atOnce(next)
        if (event === undefined) wait(id, next)
      }
    }

    /** There are no gates in this world. */
    const atOnce = (task: Task): Event | undefined =>
      task.do === 'enter' ? { on: 'entered', task, hasWaited: false } : undefined

    function wait(id: number, task: Task): void {
      const others = mind.runs.filter((run) => run.id !== id)
      const due =
        task.do === 'watch'
          ? times.monotonic + 25
          : task.do === 'pause'
            ? times.monotonic + task.milliseconds
            : undefined
      const at = task.do === 'read' ? { wall: times.wall, monotonic: times.monotonic } : undefined
      set({ runs: [...others, { id, task, ...(due !== undefined && { due }), ...(at && { at }) }] })
    }

    function ended(id: number, error: Error | undefined): void {
      set({ runs: mind.runs.filter((run) => run.id !== id) })
      if (mind.flight?.run === id) flightEnded(error)
      for (const waiting of mind.calls.filter(({ run }) => run === id)) ownRunEnded(waiting, error)
      if (mind.runs.length > 0 || mind.calls.some(({ call }) => call === 'refresh')) return
      for (const waiting of mind.calls.filter(({ call }) => call === 'settle')) {
        leave(waiting)
        say({ kind: 'settled' })
      }
    }

    const leave = (waiting: Waiting): void => set({ calls: mind.calls.filter((other) => other !== waiting) })

    function replace(waiting: Waiting, next: Waiting): void {
      set({ calls: mind.calls.map((other) => (other === waiting ? next : other)) })
    }

    function ownRunEnded(waiting: Waiting, error: Error | undefined): void {
      if (waiting.call !== 'refresh' || error !== undefined) {
        leave(waiting)
        if (waiting.call === 'refresh') note({ on: 'caller-left' })
        // A look goes by what is in memory, where the store can't be read.
        const isAnswered = waiting.call === 'look' && mind.knowledge.record !== undefined
        if (error !== undefined && !isAnswered) say({ kind: 'failed', call: waiting.call, error })
        return
      }
      replace(waiting, { call: 'refresh', stage: 'first' })
      note({ on: 'replacement-asked', accessToken: accessTokenOf(mind.knowledge.record) ?? '' })
      join(false)
    }

    function join(isBackground: boolean): void {
      if (mind.flight !== undefined) return
      const run = freeId()
      set({ flight: { run, isBackground } })
      goOn(run, { on: 'begun', flow: { kind: 'refresh', began: times.monotonic } })
    }

    const usable = (): boolean => isUsable(mind.knowledge, times)

    function answered(waiting: Waiting, error?: Error): void {
      leave(waiting)
      note({ on: 'caller-left' })
      const token = accessTokenOf(mind.knowledge.record)
      if (error !== undefined && !usable()) return say({ kind: 'failed', call: 'call', error })
      if (token !== undefined) return say({ kind: 'answered', token })
      say({ kind: 'failed', call: 'call', error: new SignedOutError({ step: 'token-manager', requestSent: false }) })
    }

    /** The record was read once: what is stored may be enough already. */
    function synced(): void {
      for (const waiting of mind.calls.filter(({ stage }) => stage === 'synced')) {
        if (usable()) answered(waiting)
        else replace(waiting, { call: 'call', stage: 'first' })
      }
    }

    function flightEnded(error: Error | undefined): void {
      const isBackground = mind.flight?.isBackground === true
      set({ flight: undefined })
      if (isBackground && error !== undefined) note({ on: 'refreshed-in-vain', wait: minRefreshInterval })
      for (const waiting of mind.calls.filter(({ stage }) => stage === 'first' || stage === 'second')) {
        if (waiting.call === 'call') answered(waiting, error)
        else refreshEnded(waiting, error)
      }
    }

    function refreshEnded(waiting: Waiting, error: Error | undefined): void {
      const { toReplace, record } = mind.knowledge
      const isReplaced = (accessTokenOf(record) ?? '') !== toReplace
      if (
        error === undefined &&
        waiting.stage === 'first' &&
        !isReplaced &&
        !isJustRefreshed(mind.knowledge, present())
      ) {
        replace(waiting, { call: 'refresh', stage: 'second' })
        return join(false)
      }
      leave(waiting)
      note({ on: 'replacement-over', accessToken: toReplace ?? '' })
      note({ on: 'caller-left' })
      say(error === undefined ? { kind: 'refreshed' } : { kind: 'failed', call: 'refresh', error })
    }

    function hearCall(call: Call): void {
      if (call === 'call') return hearAccessTokenCall()
      if (call === 'settle') {
        if (mind.runs.length === 0) return say({ kind: 'settled' })
        return set({ calls: [...mind.calls, { call }] })
      }
      if (call === 'refresh') note({ on: 'caller-came' })
      const run = freeId()
      set({ calls: [...mind.calls, { call, run }] })
      begin(flowOf(call))
    }

    function flowOf(call: Call): Begun {
      const session = `${index}.${incarnation}-s${(mind = { ...mind, ids: mind.ids + 1 }).ids}`
      if (call === 'sign-out') return { kind: 'sign-out', session }
      if (call === 'refuse')
        return { kind: 'invalidate', accessToken: typeof answer === 'string' ? answer : '', mayRefresh: true }
      if (call !== 'sign-in' && call !== 'import') return { kind: 'look' }
      const issued = answer as TokenSet
      const isBare = call === 'import'
      const tokens = isBare ? { ...issued, access_token: '', expires_at: 0 } : issued
      return { kind: 'sign-in', tokens, replaces: !isBare, session }
    }

    function hearAccessTokenCall(): void {
      const { knowledge } = mind
      if (!usable()) {
        note({ on: 'caller-came' })
        set({ calls: [...mind.calls, { call: 'call', stage: mind.flight === undefined ? 'synced' : 'first' }] })
        return join(false)
      }
      say({ kind: 'answered', token: accessTokenOf(knowledge.record) ?? '' })
      const { backgroundRest } = knowledge
      const isResting = backgroundRest !== undefined && elapsed(backgroundRest.since, times) < backgroundRest.wait
      const isEnding = mind.calls.some(({ call }) => call === 'settle')
      if (freshnessOf(knowledge, times) === 'fresh' || knowledge.unsaved !== undefined || isResting || isEnding) return
      join(true)
    }

    function hearStep({ name }: Step): void {
      const run = mind.runs.find((one) => stepFor(index, one).name === name)
      if (run === undefined) throw new Error(`nobody can do ${name}`)
      const event = eventOf(run)
      if (event !== undefined) goOn(run.id, event)
    }

    /** How the step of a run ended; nothing where a request has left. */
    function eventOf(run: Run): Event | undefined {
      const { task } = run
      if (answer === 'failed') return { on: 'failed', task, error: new StoreError('unavailable', 'simulated') }
      switch (task.do) {
        case 'read': {
          const stored = answer as (Versioned & { record: AccountRecord }) | undefined
          return { on: 'read', task, stored, at: run.at ?? times }
        }
        case 'swap': {
          const swapped = answer as Versioned | Conflict
          return 'conflict' in swapped ? { on: 'conflict', task } : { on: 'swapped', task, write: swapped }
        }
        case 'watch':
          return { on: 'watched', task }
        case 'pause':
          return { on: 'paused', task }
        case 'send':
          return run.at === undefined ? send(run, task) : reply(task, run.at)
        default:
          throw new Error(`${task.do} is no step`)
      }
    }

    function send(run: Run, task: Send): Event | undefined {
      const sentAt = { wall: times.wall, monotonic: times.monotonic }
      const unsent = (error: SendGuardError | UnreachableError): Event => {
        const outcome = outcomeOfFailure(error)
        return { on: 'answered', task, outcome, sentAt: task.request.swappedAt }
      }
      if (answer === 'unreachable') return unsent(new UnreachableError('simulated', { requestSent: false }))
      if (!machine.maySend(mind.knowledge, task.request, present())) return unsent(new SendGuardError())
      say({ kind: 'sent', tokens: task.request.derivedFrom.tokens })
      set({ runs: mind.runs.map((one) => (one === run ? { ...run, at: sentAt } : one)) })
      return undefined
    }

    function reply(task: Send, sentAt: Instant): Event {
      const outcome = outcomeFor(answer as Answer | 'lost')
      return { on: 'answered', task, outcome, sentAt }
    }

    if (typeof what === 'string') hearCall(what)
    else hearStep(what)
    return momentOf(index, incarnation, mind, said, false)
  }

  return {
    begin: (index, incarnation) => {
      const knowledge = nothingKnown(account)
      return momentOf(index, incarnation, { knowledge, runs: [], calls: [], flight: undefined, ids: 0 }, [], true)
    },
    tell(moment, told) {
      const from = moment as Known
      const known = from.next.get(told.key)
      if (known !== undefined) return known
      const found = after(from, told)
      from.next.set(told.key, found)
      return found
    },
  }
}

function outcomeFor(answer: Answer | 'lost'): Outcome {
  if (answer === 'lost') return outcomeOfFailure(new UnreachableError('simulated', { requestSent: true }))
  const { tokens, error } = answer
  return tokens === undefined ? outcomeOfFailure(error) : { kind: 'tokens', tokens, isOfAnotherOwner: false }
}

/** The step of the world that a run waits for. */
function stepFor(index: number, { id, task, due, at }: Run): Step {
  const name = (kind: Step['kind']): Pick<Step, 'name' | 'kind'> => ({ name: `p${index}.${id} ${kind}`, kind })
  switch (task.do) {
    case 'read':
      return { ...name('read'), shelf: 'account' }
    case 'swap': {
      const { over, record, writeId } = task
      const write = {
        expected: over?.version ?? 0,
        expectedWriteId: over?.writeId,
        next: record,
        writeId: writeId ?? nameOf(task),
      }
      return { ...name('swap'), shelf: 'account', write }
    }
    case 'send':
      return { ...name(at === undefined ? 'send' : 'reply'), tokens: task.request.derivedFrom.tokens }
    case 'watch':
      return { ...name('timer'), due: due ?? 0, looks: true }
    default:
      return { ...name('timer'), due: due ?? 0 }
  }
}

const names = new Map<string, string>()

/** A name for the write of a swap: no other has it. */
function nameOf(task: Task): string {
  const text = textOf(task)
  const name = names.get(text) ?? `w${names.size}`
  names.set(text, name)
  return name
}

/** Everything that a value says: errors by their own fields. Without a replacer, which takes longer than all else. */
const textOf = (value: unknown): string => JSON.stringify(value)

const wordsOf = (error: Error): string => `${error.name} ${'nextAttemptAt' in error ? String(error.nextAttemptAt) : ''}`

function wordsFor(said: Said): string {
  if (said.kind === 'sent') return `sent ${said.tokens.refresh_token}`
  if (said.kind === 'answered') return `answered ${said.token}`
  return said.kind === 'failed' ? `failed ${said.call} ${wordsOf(said.error as Error)}` : said.kind
}
