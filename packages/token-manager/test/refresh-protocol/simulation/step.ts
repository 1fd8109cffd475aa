/**
 * How a step of a process ends: a store operation, a request, its answer, a timer.
 */
import type { Tell } from './conversation.ts'
import * as judge from './judge.ts'
import type { Step } from './process.ts'
import type { Scenario } from './scenario.ts'
import type { Versioned } from '../../../src/store/token-store.ts'
import { accountRecordOf, type Stored, swapped } from './store.ts'
import { actorOf, nameOf, withActor, type World } from './world.ts'

/** So many records back a store may go. */
const longestRollback = 2

/** What a step that ends in one of its ways makes of a world. */
export type EndStep = (world: World, index: number, step: Step, how: string) => World | Promise<World>

export function stepOf(tell: Tell, { emptyings, rollbacks }: Scenario): EndStep {
  const remembers = rollbacks > 0
  // Where nothing is lost, a version is one write: its name would only tell states apart that are the same.
  const tellsWrites = emptyings + rollbacks > 0
  const answerOf = (stored: Stored | undefined): Versioned | undefined =>
    stored === undefined || tellsWrites ? stored : { ...stored, writeId: undefined }
  const wordsFor = (stored: Stored | undefined): string =>
    tellsWrites ? `${stored?.name} ${stored?.writeId}` : `${stored?.name}`

  function afterRead(world: World, index: number, step: Step): World | Promise<World> {
    const stored = world.stock[step.shelf ?? 'account']
    const reader = step.shelf === 'account' ? { lastRead: `${stored?.name}@${world.now}` } : {}
    const words = `${step.name} ${wordsFor(stored)}`
    return tell(withActor(world, index, reader), index, { what: step, words, answer: answerOf(stored) })
  }

  function afterSwap(world: World, index: number, step: Step, how: string): World | Promise<World> {
    const { name: words, write, shelf = 'account' } = step
    const stored = world.stock[shelf]
    const result = write && swapped(stored, write)
    const changed = result === undefined || result === stored ? world : afterWrite(world, shelf, result)
    if (how === 'unacknowledged')
      return tell(changed, index, { what: step, words: `${words} failed`, answer: 'failed' })
    if (result === undefined) {
      return tell(changed, index, { what: step, words: `${words} conflict`, answer: { conflict: true } })
    }
    return tell(changed, index, { what: step, words: `${words} ${wordsFor(result)}`, answer: answerOf(result) })
  }

  function afterWrite(world: World, shelf: 'account' | 'firewall', stored: Stored): World {
    const before = world.stock.account
    const next = { ...world, stock: { ...world.stock, [shelf]: stored } }
    if (shelf === 'firewall') return next
    const history = remembers && before !== undefined ? [before, ...world.before].slice(0, longestRollback) : []
    const record = accountRecordOf(next.stock)
    const evidence = judge.judged(
      world.evidence,
      (seen) => record && judge.written(seen, accountRecordOf(world.stock), record, world.now),
    )
    return { ...next, before: history, evidence }
  }

  function afterReply(world: World, index: number, step: Step, how: string): World | Promise<World> {
    const { answer } = actorOf(world, index)
    const next = withActor(world, index, { answer: undefined })
    if (how === '') return tell(next, index, { what: step, words: `${step.name} ${nameOf(answer)}`, answer })
    const { tokens } = step
    const evidence = judge.judged(world.evidence, (seen) => tokens && judge.lost(seen, index, tokens))
    const left = { ...world.left, lostReplies: world.left.lostReplies - 1 }
    return tell({ ...next, evidence, left }, index, { what: step, words: `${step.name} lost`, answer: 'lost' })
  }

  function afterSend(world: World, index: number, step: Step, how: string): World | Promise<World> {
    const { left, evidence } = world
    if (how === 'unreachable') {
      const next = {
        ...world,
        left: { ...left, unreachables: left.unreachables - 1 },
        evidence: judge.judged(evidence, (seen) => judge.unreachable(seen, index, world.now)),
      }
      return tell(next, index, { what: step, words: `${step.name} ${how}`, answer: how })
    }
    const isBlocked = how === 'blocked'
    const next = isBlocked ? { ...world, left: { ...left, blocks: left.blocks - 1 } } : world
    return tell(next, index, { what: step, words: step.name, isBlocked })
  }

  function afterStoreFailure(world: World): World {
    const left = { ...world.left, storeFailures: world.left.storeFailures - 1 }
    return { ...world, left, evidence: judge.judged(world.evidence, judge.fault('store')) }
  }

  return (world, index, step, how) => {
    if (step.kind === 'timer') return tell(world, index, { what: step, words: step.name })
    if (step.kind === 'send') return afterSend(world, index, step, how)
    if (step.kind === 'reply') return afterReply(world, index, step, how)
    if (how === 'cut') return tell(world, index, { what: step, words: `${step.name} failed`, answer: 'failed' })
    const next = how === '' ? world : afterStoreFailure(world)
    if (how === 'failed') return tell(next, index, { what: step, words: `${step.name} failed`, answer: 'failed' })
    return step.kind === 'read' ? afterRead(next, index, step) : afterSwap(next, index, step, how)
  }
}
