/**
 * What can happen next in a world. Nothing happens by itself: each store operation, each request, each answer and each timer
 * is an action that the explorer performs when it likes, so that it decides every interleaving.
 */
import { timesOf } from './clocks.ts'
import type { Call, Step } from './process.ts'
import type { Allowance } from './scenario.ts'
import { failures } from './store.ts'
import type { Actor, World } from './world.ts'

/** One thing that can happen next. */
export type Action = OfWorld | OfProcess | Jump | Rollback | StepEnd
interface OfWorld {
  readonly kind: 'wait' | 'tick' | 'pause' | 'expire' | 'empty'
}
interface OfProcess {
  readonly kind: Call | 'crash' | 'exit' | 'sleep' | 'cut' | 'heal'
  readonly process: number
}
interface Jump {
  readonly kind: 'jump'
  readonly process: number
  readonly by: number
}
interface Rollback {
  readonly kind: 'roll-back'
  readonly to: number
}
interface StepEnd {
  readonly kind: 'step'
  readonly process: number
  readonly step: Step
  readonly how: string
}

/** Calls that processes make at any time, and how many may still be made. */
const calls: readonly (readonly [Call, Allowance])[] = [
  ['sign-in', 'signIns'],
  ['import', 'imports'],
  ['sign-out', 'signOuts'],
  ['refresh', 'refreshes'],
  ['refuse', 'refusals'],
  ['look', 'looks'],
]

/** Of a timer: it would only lead to a look at what its process has seen already. */
export function isIdle({ now, stock }: World, { lastRead }: Actor, { looks }: Step): boolean {
  return looks === true && lastRead === `${stock.account?.name}@${now}`
}

/** Milliseconds until a timer fires. A hint of the store may wake whoever watches the record at any time before. */
export function untilDue({ now }: World, { clocks }: Actor, index: number, { due = 0, looks }: Step): number {
  return looks === true ? 0 : Math.max(0, due - timesOf(clocks, index, now).monotonic)
}

/** Milliseconds until the next timer fires that is none of those, if there is one. */
export function untilNextTimer(world: World): number | undefined {
  let least: number | undefined
  for (const [index, actor] of world.processes.entries()) {
    for (const step of actor.moment.pending) {
      if (step.kind !== 'timer' || step.looks === true) continue
      const left = untilDue(world, actor, index, step)
      if (least === undefined || left < least) least = left
    }
  }
  return least
}

/** Whether a process is in the midst of something: it could go on at once. */
function isLive(world: World, index: number, actor: Actor, step: Step): boolean {
  return step.kind !== 'timer' || (untilDue(world, actor, index, step) === 0 && !isIdle(world, actor, step))
}

export function isAnyLive(world: World): boolean {
  return world.processes.some((actor, index) => actor.moment.pending.some((step) => isLive(world, index, actor, step)))
}

function addWays(actions: Action[], { left }: World, process: number, { isCut }: Actor, step: Step): void {
  const { kind } = step
  const add = (how: string): void => void actions.push({ kind: 'step', process, step, how })
  const isOfStore = kind === 'read' || kind === 'swap'
  if (isOfStore && isCut) return add('cut')
  add('')
  if (kind === 'reply' && left.lostReplies > 0) add('lost')
  if (kind === 'send' && left.unreachables > 0) add('unreachable')
  if (kind === 'send' && left.blocks > 0) add('blocked')
  if (isOfStore && left.storeFailures > 0) failures[kind].forEach(add)
}

/** Nothing once all is done. */
export function enabled(world: World): Action[] {
  const { left, processes, stock } = world
  const actions: Action[] = []
  let isAnyPending = false
  for (const [process, actor] of processes.entries()) {
    for (const step of actor.moment.pending) {
      isAnyPending = true
      if (isLive(world, process, actor, step)) addWays(actions, world, process, actor, step)
    }
  }
  const isLiveNow = actions.length > 0
  addCalls(actions, world)
  for (const [process, { isCut }] of processes.entries()) if (isCut) actions.push({ kind: 'heal', process })
  if (actions.length === 0) return isAnyPending ? [{ kind: 'wait' }] : []
  addFaultsOfProcesses(actions, world, isLiveNow)
  if (left.emptyings > 0 && stock.account !== undefined) actions.push({ kind: 'empty' })
  if (left.rollbacks > 0) for (const to of world.before.keys()) actions.push({ kind: 'roll-back', to })
  if (isLiveNow && left.pauses > 0) actions.push({ kind: 'pause' })
  if (left.ticks > 0 && (isLiveNow ? (untilNextTimer(world) ?? 0) > 0 : isAnyPending)) actions.push({ kind: 'tick' })
  if (left.expiries > 0 && (!isLiveNow || left.pauses > 0)) actions.push({ kind: 'expire' })
  return actions
}

function addCalls(actions: Action[], { left, processes }: World): void {
  for (const [process, actor] of processes.entries()) {
    const { moment, incarnation, leaving, given } = actor
    if (leaving === 'may-exit') actions.push({ kind: 'exit', process })
    if (leaving === 'no') {
      if (actor.calls > 0 && moment.busy === 0) actions.push({ kind: 'call', process })
      for (const [kind, allowance] of calls) {
        if (left[allowance] > 0 && (kind !== 'refuse' || given !== undefined)) actions.push({ kind, process })
      }
      // A server stops answering before it settles.
      if (left.exits > 0 && moment.busy === 0 && !moment.isFirst) actions.push({ kind: 'settle', process })
    }
    // All processes are alike where their clocks agree: the next one begins only after this one.
    if (moment.isFirst && incarnation === 0 && actor.clocks.ahead === 0) break
  }
}

function addFaultsOfProcesses(actions: Action[], { left, processes, jumpBy }: World, isLiveNow: boolean): void {
  for (const [process, { moment, isCut }] of processes.entries()) {
    const isBusy = moment.pending.length > 0
    if (left.crashes > 0 && isBusy) actions.push({ kind: 'crash', process })
    if (left.sleeps > 0 && isBusy && isLiveNow) actions.push({ kind: 'sleep', process })
    if (left.cuts > 0 && isBusy && !isCut) actions.push({ kind: 'cut', process })
    if (left.jumps > 0) for (const by of jumpBy) actions.push({ kind: 'jump', process, by })
  }
}
