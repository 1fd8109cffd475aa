/**
 * The simulated world: real token managers over one simulated store, service and clock.
 *
 * Nothing happens by itself: each store operation, each request, each answer and each timer is an action that the explorer
 * performs when it likes, so that it decides every interleaving. The same actions always lead to the same world.
 */
import { lineageOf } from '../../../src/refresh-protocol/lineage.ts'
import { createJudge } from './judge.ts'
import type { Judge } from './judge.ts'
import { startProcess } from './process.ts'
import type { Pending, Process, Surroundings } from './process.ts'
import { account } from './scenario.ts'
import type { Scenario } from './scenario.ts'
import { createService, life } from './service.ts'
import { createStore, failures } from './store.ts'

/** One thing that can happen next, as words: who, what, and how it ends. */
export type Action = string

export interface World {
  /** What can happen next; nothing once all is done. */
  enabled(): Action[]
  perform(action: Action): Promise<void>
  /** Everything that decides how it goes on. */
  state(): string
  /** Lets everything end without further faults, as time passes, and asks for the last judgement. */
  complete(): Promise<void>
  readonly judge: Judge
}

const start = Date.UTC(2026, 0, 1)

export function createWorld(scenario: Scenario): World {
  let now = start
  const expiry = start + (scenario.token === 'ageing' ? 2 * 3_600_000 : -1000)
  const service = createService(scenario.rotation)
  const seeded = service.signIn(expiry - life * 1000)
  const judge = createJudge(scenario.rotation, service, () => now, seeded)
  const lineage = lineageOf(account, seeded.refresh_token)
  const times = { obtained_at: expiry / 1000 - life, lifetime: life }
  const record = {
    schema: 1,
    state: 'signed-in',
    generation: 1,
    refreshes: 0,
    lineage,
    tokens: seeded,
    ...times,
  } as const
  const store = createStore(record, judge)
  const incarnationOf = (index: number): number => processes[index]?.incarnation ?? -1
  const surroundings: Surroundings = { scenario, service, store, judge, now: () => now, incarnationOf }
  const processes: Process[] = []
  for (let index = 0; index < scenario.processes; index += 1) {
    processes.push(startProcess(index, 0, scenario.calls, surroundings))
  }
  const left = {
    crashes: scenario.crashes,
    pauses: scenario.pauses,
    lostReplies: scenario.lostReplies,
    storeFailures: scenario.storeFailures,
    signIns: scenario.signIns,
    signOuts: scenario.signOuts,
    expiries: scenario.token === 'ageing' ? 1 : 0,
  }
  /** Longer than any intent lives. */
  const pause = scenario.sameHost ? 125_000 : 50_000

  function waysOf({ name, kind }: Pending): Action[] {
    if (kind === 'reply' && left.lostReplies > 0) return [name, `${name} lost`]
    const ways = kind === 'read' || kind === 'swap' ? failures[kind] : []
    return left.storeFailures > 0 ? [name, ...ways.map((way) => `${name} ${way}`)] : [name]
  }

  const allPending = (): Pending[] => processes.flatMap(({ pending }) => [...pending.values()])

  function enabled(): Action[] {
    const pending = allPending()
    const live = pending.filter(({ idle }) => !idle())
    const actions = live.flatMap(waysOf)
    for (const { index, calls, busy, history } of processes) {
      if (calls > 0 && busy === 0) actions.push(`p${index} call`)
      if (left.signIns > 0) actions.push(`p${index} sign-in`)
      if (left.signOuts > 0) actions.push(`p${index} sign-out`)
      // All processes are alike: the next one begins only after this one.
      if (history === '') break
    }
    if (actions.length === 0) return pending.length > 0 ? ['wait'] : []
    if (left.crashes > 0) {
      for (const process of processes) if (process.pending.size > 0) actions.push(`p${process.index} crash`)
    }
    if (live.length > 0 && left.pauses > 0) actions.push('pause')
    if (left.expiries > 0 && (live.length === 0 || left.pauses > 0)) actions.push('expire')
    return actions
  }

  async function perform(action: Action): Promise<void> {
    if (action === 'wait') now += pause
    else if (action === 'pause' || action === 'expire') skipTime(action)
    else {
      const [name = '', what = '', how = ''] = action.split(' ')
      const process = processes[Number(name.slice(1).split('.')[0])]
      if (process === undefined) throw new Error(`nobody can do ${action}`)
      const pending = process.pending.get(`${name} ${what}`)
      if (pending === undefined) begin(process, what)
      else step(process, pending, how)
    }
    await new Promise((resolve) => process.nextTick(resolve))
  }

  function skipTime(action: 'pause' | 'expire'): void {
    if (allPending().some(({ idle }) => !idle())) {
      left.pauses -= 1
      judge.paused()
    }
    if (action === 'expire') left.expiries -= 1
    now = action === 'expire' ? Math.max(now, expiry) + 1000 : now + pause
  }

  function step(process: Process, pending: Pending, how: string): void {
    process.pending.delete(pending.name)
    if (how === 'lost') left.lostReplies -= 1
    else if (how !== '') {
      left.storeFailures -= 1
      judge.storeFailed()
    }
    process.history += `${pending.name}:${pending.perform(how)}@${now};`
  }

  function begin(process: Process, what: string): void {
    process.history += `${what}@${now};`
    if (what === 'crash') {
      left.crashes -= 1
      judge.crashed(process.index)
      const { index, incarnation, calls, busy } = process
      processes[index] = startProcess(index, incarnation + 1, calls + Math.sign(busy), surroundings)
    } else if (what === 'call') {
      process.calls -= 1
      void follow(process, 'getAccessToken', process.manager.getAccessToken(account))
    } else if (what === 'sign-in') {
      left.signIns -= 1
      void follow(process, 'save', process.manager.save(account, service.signIn(now)))
    } else {
      left.signOuts -= 1
      judge.signedOut()
      void follow(process, 'forget', process.manager.forget(account))
    }
  }

  async function follow(process: Process, name: string, call: Promise<string | void>): Promise<void> {
    process.busy += 1
    try {
      const token = await call
      if (typeof token === 'string') judge.answered(token)
      process.history += `${token ?? name};`
    } catch (error) {
      judge.failed(name, error)
      process.history += `${String(error)};`
    }
    process.busy -= 1
  }

  function state(): string {
    const parts = processes.map(
      ({ incarnation, history, calls, busy, pending }) =>
        `${incarnation}:${history}:${calls}:${busy}:${[...pending.keys()].join()}`,
    )
    return [...parts, store.state(), service.state(), now, Object.values(left), judge.state()].join('|')
  }

  async function complete(): Promise<void> {
    for (const fault of Object.keys(left)) left[fault as keyof typeof left] = 0
    await playOut()
    // Once more when every access token has expired, by processes started anew: what counts is what was stored.
    now += (life + 60) * 1000
    for (const { index, incarnation } of processes) {
      processes[index] = startProcess(index, incarnation + 1, 1, surroundings)
    }
    await playOut()
    judge.final(store.record())
  }

  async function playOut(): Promise<void> {
    for (let steps = 0; steps < 400; steps += 1) {
      const [next] = enabled()
      if (next === undefined) return
      await perform(next)
    }
    judge.stuck()
  }

  return { enabled, perform, state, complete, judge }
}
