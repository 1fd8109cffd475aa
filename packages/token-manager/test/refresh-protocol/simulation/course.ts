/**
 * How the worlds of one scenario go on: what each action makes of a world, and how a world ends.
 */
import type { Behaviour } from './behaviour.ts'
import { conversationOf } from './conversation.ts'
import type { Evidence } from './evidence.ts'
import * as judge from './judge.ts'
import { type Action, enabled, isAnyLive, untilNextTimer } from './possibilities.ts'
import type { Call } from './process.ts'
import { type Allowance, type Scenario, spent } from './scenario.ts'
import { life } from './service.ts'
import { stepOf } from './step.ts'
import { accountRecordOf } from './store.ts'
import { type Actor, actorOf, expiryOf, firstWorld, startedActor, withActor, type World } from './world.ts'

export interface Course {
  readonly first: World
  perform(world: World, action: Action): World | Promise<World>
  /** Lets everything end without further faults, as time passes. Returns the last judgement. */
  complete(world: World): Promise<string | undefined>
}

export function courseOf(scenario: Scenario, behaviour: Behaviour): Course {
  const expiry = expiryOf(scenario)
  /** Longer than any intent lives. */
  const pause = scenario.sameHost ? 125_000 : 50_000
  const tell = conversationOf(behaviour, scenario.sameHost)
  const afterStep = stepOf(tell, scenario)

  function perform(world: World, action: Action): World | Promise<World> {
    if (action.kind === 'step') return afterStep(world, action.process, action.step, action.how)
    if (action.kind === 'roll-back') return afterRollback(world, action.to)
    if (action.kind === 'jump') return afterJump(world, action.process, action.by)
    if (!('process' in action)) return afterTurn(world, action.kind)
    const { kind, process } = action
    if (kind === 'sleep') return afterSleep(world, process)
    if (kind === 'crash' || kind === 'exit') return afterEnd(world, process, kind)
    if (kind === 'cut' || kind === 'heal') return afterCut(world, process, kind === 'cut')
    return afterCall(world, process, kind)
  }

  function afterTurn(world: World, kind: 'wait' | 'tick' | 'pause' | 'expire' | 'empty'): World {
    if (kind === 'wait') return afterWaiting(world)
    if (kind === 'tick') return afterWaiting(used(world, 'ticks'))
    if (kind === 'empty') return afterLoss(world)
    return afterTime(world, kind)
  }

  /** To the next thing that happens by itself; where everybody only watches the record, beyond the life of an intent. */
  function afterWaiting(world: World): World {
    const isAnyWatching = world.processes.some(({ moment }) => moment.pending.some(({ looks }) => looks === true))
    const untilTimer = untilNextTimer(world)
    const wait = isAnyWatching ? Math.min(pause, untilTimer ?? pause) : (untilTimer ?? pause)
    const next = { ...world, now: world.now + Math.max(1, Math.ceil(wait)) }
    if (!isAnyWatching || isAnyLive(world)) return next
    const record = accountRecordOf(world.stock)
    const intent = record?.state === 'signed-in' ? record.intent : undefined
    if (intent === undefined) return next
    const { pid, started } = intent.holder
    const holder = world.processes[pid]
    const isOwn = String(holder?.incarnation) === started && onlyWatches(holder)
    // Whoever leaves refreshes to others has nothing to do but to wait for them.
    const isAnyTold = world.processes.some(
      (actor, index) => onlyWatches(actor) && !actor.isCut && !scenario.elsewhere.includes(index),
    )
    return isAnyTold ? ruled(next, () => judge.waiting(intent, isOwn && holder?.isCut === false)) : next
  }

  function afterTime(world: World, kind: 'pause' | 'expire'): World {
    const older = expiry - (world.left.expiries > 1 ? 3_600_000 : -1000)
    const now = kind === 'expire' ? Math.max(world.now + 1000, older) : world.now + pause
    const next = { ...(kind === 'expire' ? used(world, 'expiries') : world), now }
    return isAnyLive(world) ? ruled(used(next, 'pauses'), judge.fault('pauses')) : next
  }

  function afterSleep(world: World, index: number): World {
    const { clocks } = actorOf(world, index)
    const next = withActor(used(world, 'sleeps'), index, { clocks: { ...clocks, slept: clocks.slept + pause } })
    return ruled({ ...next, now: world.now + pause }, judge.fault('pauses'))
  }

  function afterJump(world: World, index: number, by: number): World {
    const { clocks } = actorOf(world, index)
    const next = withActor(used(world, 'jumps'), index, { clocks: { ...clocks, ahead: clocks.ahead + by } })
    return ruled(next, judge.fault('jumps'))
  }

  function afterLoss(world: World): World {
    const next = { ...used(world, 'emptyings'), stock: { account: undefined, firewall: undefined }, before: [] }
    return ruled(next, (seen) => judge.forgot(seen, 'emptied'))
  }

  function afterRollback(world: World, to: number): World {
    const stock = { ...world.stock, account: world.before[to] }
    const next = { ...used(world, 'rollbacks'), stock, before: world.before.slice(to + 1) }
    return ruled(next, (seen) => judge.forgot(seen, 'rolledBack'))
  }

  function afterCut(world: World, index: number, isCut: boolean): World {
    const next = withActor(isCut ? used(world, 'cuts') : world, index, { isCut })
    return isCut ? ruled(next, judge.fault('cuts')) : next
  }

  function afterEnd(world: World, index: number, kind: 'crash' | 'exit'): World {
    const { incarnation, calls, moment, clocks, isCut } = actorOf(world, index)
    const again = { incarnation: incarnation + 1, calls: calls + Math.sign(moment.busy), clocks }
    const next = withActor(world, index, { ...startedActor(behaviour, index, again), isCut })
    if (kind === 'exit') return ruled(next, (seen) => judge.left(seen, index, 'exit'))
    return ruled(used(next, 'crashes'), (seen) => judge.crashed(seen, index))
  }

  function afterCall(world: World, index: number, call: Call): World | Promise<World> {
    const actor = actorOf(world, index)
    if (call === 'call') {
      return tell(withActor(world, index, { calls: actor.calls - 1 }), index, { what: call, words: call })
    }
    if (call === 'settle') {
      const settling = withActor(used(world, 'exits'), index, { leaving: 'settling' })
      return tell(settling, index, { what: call, words: call })
    }
    if (call === 'look') return tell(used(world, 'looks'), index, { what: call, words: call })
    if (call === 'sign-in' || call === 'import') {
      const service = world.service.fork()
      const answer = service.signIn(world.now)
      const allowance = call === 'import' ? 'imports' : 'signIns'
      const issued = ruled(used({ ...world, service }, allowance), (seen) => judge.issued(seen, answer))
      return tell(issued, index, { what: call, words: `${call} ${answer.access_token}`, answer })
    }
    if (call === 'sign-out') {
      const leaving = ruled(used(world, 'signOuts'), (seen) => void (seen.signOuts += 1))
      return tell(leaving, index, { what: call, words: call })
    }
    if (call === 'refresh') {
      const asking = ruled(used(world, 'refreshes'), (seen) => judge.asked(seen, index, world.now))
      return tell(asking, index, { what: call, words: call })
    }
    const token = actor.given ?? ''
    const who = `${index}.${actor.incarnation}`
    const refusing = ruled(used(world, 'refusals'), (seen) => judge.refused(seen, who, token, world.now))
    return tell(refusing, index, { what: call, words: `${call} ${token}`, answer: token })
  }

  async function complete(world: World): Promise<string | undefined> {
    const processes = world.processes.map((actor) => ({ ...actor, isCut: false }))
    const rest = await playOut({ ...world, processes, left: spent })
    if (rest.evidence.verdicts.length > 0) return rest.evidence.verdicts[0]
    // Once more when every access token has expired, by processes started anew: what counts is what was stored.
    const now = rest.now + (life + 60) * 1000
    const anew = rest.processes.map(({ incarnation }, index) => {
      const clocks = { ahead: scenario.skews[index] ?? 0, slept: 0 }
      return startedActor(behaviour, index, { incarnation: incarnation + 1, calls: 1, clocks })
    })
    const { evidence, stock, service } = await playOut({ ...rest, now, processes: anew })
    const seen = judge.judged(evidence, (last) => judge.ended(last, accountRecordOf(stock), service))
    return seen.verdicts[0]
  }

  async function playOut(from: World): Promise<World> {
    let world = from
    for (let steps = 0; steps < 600; steps += 1) {
      const [next] = enabled(world)
      if (next === undefined) {
        const isAnyWaiting = world.processes.some(({ moment }) => moment.busy > 0)
        return isAnyWaiting ? ruled(world, () => 'somebody waits for ever') : world
      }
      const after = perform(world, next)
      world = after instanceof Promise ? await after : after
    }
    return ruled(world, () => 'somebody waits for ever')
  }

  return { first: firstWorld(scenario, behaviour), perform, complete }
}

const used = (world: World, what: Allowance): World => ({
  ...world,
  left: { ...world.left, [what]: world.left[what] - 1 },
})

const ruled = (world: World, look: (seen: Evidence) => string | false | undefined | void): World => ({
  ...world,
  evidence: judge.judged(world.evidence, look),
})

/** Whether all that a process does is to wait for another one's intent. */
const onlyWatches = (actor: Actor | undefined): boolean =>
  actor !== undefined && actor.moment.pending.length > 0 && actor.moment.pending.every(({ looks }) => looks === true)
