/**
 * What can happen next in a world. Nothing happens by itself: each store operation, each request, each answer and each timer
 * is an action that the explorer performs when it likes, so that it decides every interleaving.
 */
import type { Step } from './process.ts'
import { failures } from './store.ts'
import type { Actor, World } from './world.ts'

/** One thing that can happen next. */
export type Action =
  | { readonly kind: 'wait' | 'pause' | 'expire' }
  | { readonly kind: 'crash' | 'call' | 'sign-in' | 'sign-out'; readonly process: number }
  | { readonly kind: 'step'; readonly process: number; readonly step: Step; readonly how: string }

/** Of a timer: it would only lead to a look at what its process has seen already. */
export function isIdle({ now, stored }: World, { lastRead }: Actor, { looks }: Step): boolean {
  return looks === true && lastRead === `${stored.version}@${now}`
}

function waysOf({ left }: World, process: number, step: Step): Action[] {
  const { kind } = step
  const action = (how: string): Action => ({ kind: 'step', process, step, how })
  if (kind === 'reply' && left.lostReplies > 0) return [action(''), action('lost')]
  const ways = kind === 'read' || kind === 'swap' ? failures[kind] : []
  return left.storeFailures > 0 ? ['', ...ways].map(action) : [action('')]
}

/** Nothing once all is done. */
export function enabled(world: World): Action[] {
  const { left, processes } = world
  const actions: Action[] = []
  let isAnyPending = false
  for (const [process, actor] of processes.entries()) {
    for (const step of actor.moment.pending) {
      isAnyPending = true
      if (!isIdle(world, actor, step)) actions.push(...waysOf(world, process, step))
    }
  }
  const isAnyLive = actions.length > 0
  for (const [process, { calls, moment, incarnation }] of processes.entries()) {
    if (calls > 0 && moment.busy === 0) actions.push({ kind: 'call', process })
    if (left.signIns > 0) actions.push({ kind: 'sign-in', process })
    if (left.signOuts > 0) actions.push({ kind: 'sign-out', process })
    // All processes are alike: the next one begins only after this one.
    if (moment.isFirst && incarnation === 0) break
  }
  if (actions.length === 0) return isAnyPending ? [{ kind: 'wait' }] : []
  if (left.crashes > 0) {
    for (const [process, { moment }] of processes.entries()) {
      if (moment.pending.length > 0) actions.push({ kind: 'crash', process })
    }
  }
  if (isAnyLive && left.pauses > 0) actions.push({ kind: 'pause' })
  if (left.expiries > 0 && (!isAnyLive || left.pauses > 0)) actions.push({ kind: 'expire' })
  return actions
}
