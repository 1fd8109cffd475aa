/**
 * How the worlds of one scenario go on: what each action makes of a world, and how a world ends.
 */
import type { Behaviour, Moment } from './behaviour.ts'
import { enabled, isIdle } from './possibilities.ts'
import type { Action } from './possibilities.ts'
import type { Step, Told } from './process.ts'
import type { Scenario } from './scenario.ts'
import { life } from './service.ts'
import { swapped } from './store.ts'
import type { Stored } from './store.ts'
import { actorOf, expiryOf, firstWorld, nameOf, startedActor, withActor } from './world.ts'
import type { World } from './world.ts'

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

  function perform(world: World, action: Action): World | Promise<World> {
    if (!('process' in action)) return afterTime(world, action.kind)
    if (action.kind === 'crash') return afterCrash(world, action.process)
    if (action.kind === 'step') return afterStep(world, action.process, action.step, action.how)
    return afterBeginning(world, action.process, action.kind)
  }

  function afterTime(world: World, kind: 'wait' | 'pause' | 'expire'): World {
    if (kind === 'wait') return { ...world, now: world.now + pause }
    const isAnyLive = world.processes.some((actor) => actor.moment.pending.some((step) => !isIdle(world, actor, step)))
    const judge = isAnyLive ? world.judge.fork() : world.judge
    if (isAnyLive) judge.paused()
    const left = {
      ...world.left,
      pauses: world.left.pauses - (isAnyLive ? 1 : 0),
      expiries: world.left.expiries - (kind === 'expire' ? 1 : 0),
    }
    const now = kind === 'expire' ? Math.max(world.now, expiry) + 1000 : world.now + pause
    return { ...world, now, left, judge }
  }

  function afterCrash(world: World, index: number): World {
    const judge = world.judge.fork()
    judge.crashed(index)
    const actor = actorOf(world, index)
    const next = startedActor(behaviour, index, actor.incarnation + 1, actor.calls + Math.sign(actor.moment.busy))
    return { ...withActor(world, index, next), judge, left: { ...world.left, crashes: world.left.crashes - 1 } }
  }

  function afterBeginning(world: World, index: number, kind: 'call' | 'sign-in' | 'sign-out'): World | Promise<World> {
    const { left } = world
    if (kind === 'call') {
      const actor = actorOf(world, index)
      return tell(withActor(world, index, { ...actor, calls: actor.calls - 1 }), index, kind, kind)
    }
    if (kind === 'sign-in') {
      const service = world.service.fork()
      const tokens = service.signIn(world.now)
      const next = { ...world, service, left: { ...left, signIns: left.signIns - 1 } }
      return tell(next, index, kind, `${kind} ${tokens.access_token}`, tokens)
    }
    const judge = world.judge.fork()
    judge.signedOut()
    return tell({ ...world, judge, left: { ...left, signOuts: left.signOuts - 1 } }, index, kind, kind)
  }

  function afterStep(before: World, index: number, step: Step, how: string): World | Promise<World> {
    const { kind, name } = step
    if (kind === 'timer' || kind === 'send') return tell(before, index, step, name)
    if (kind === 'reply') return afterReply(before, index, step, how)
    const world = how === '' ? before : afterStoreFailure(before)
    const { stored } = world
    if (how === 'failed') return tell(world, index, step, `${name} failed`, 'failed')
    if (step.write === undefined) {
      const lastRead = `${stored.version}@${world.now}`
      const reader = { ...actorOf(world, index), lastRead }
      return tell(withActor(world, index, reader), index, step, `${name} ${stored.name}`, stored)
    }
    const { expected, next, writeId } = step.write
    const result = swapped(stored, expected, next, writeId)
    const changed = result === undefined || result === stored ? world : afterWrite(world, result)
    if (how === 'unacknowledged') return tell(changed, index, step, `${name} failed`, 'failed')
    if (result === undefined) return tell(changed, index, step, `${name} conflict`, { conflict: true })
    return tell(changed, index, step, `${name} ${result.version}`, result)
  }

  function afterStoreFailure(world: World): World {
    const judge = world.judge.fork()
    judge.storeFailed()
    return { ...world, judge, left: { ...world.left, storeFailures: world.left.storeFailures - 1 } }
  }

  function afterWrite(world: World, stored: Stored): World {
    const judge = world.judge.fork()
    judge.written(world.stored.record, stored.record)
    return { ...world, stored, judge }
  }

  function afterReply(world: World, index: number, step: Step, how: string): World | Promise<World> {
    const { answer, ...actor } = actorOf(world, index)
    const next = withActor(world, index, { ...actor, answer: undefined })
    if (how === '') return tell(next, index, step, `${step.name} ${nameOf(answer)}`, answer)
    const judge = world.judge.fork()
    if (step.tokens !== undefined) judge.lost(index, step.tokens)
    const left = { ...world.left, lostReplies: world.left.lostReplies - 1 }
    return tell({ ...next, judge, left }, index, step, `${step.name} lost`, 'lost')
  }

  function tell(
    world: World,
    index: number,
    what: Told['what'],
    words: string,
    answer?: Told['answer'],
  ): World | Promise<World> {
    const incarnations = scenario.sameHost ? world.processes.map(({ incarnation }) => incarnation) : []
    const { now } = world
    const key = `${words}@${now} ${incarnations.join('.')}`
    const after = behaviour.tell(actorOf(world, index).moment, { key, what, answer, now, incarnations })
    return after instanceof Promise ? after.then((moment) => hear(world, index, moment)) : hear(world, index, after)
  }

  function hear(before: World, index: number, moment: Moment): World {
    const world = withActor(before, index, { ...actorOf(before, index), moment })
    if (moment.said.length === 0) return world
    const judge = world.judge.fork()
    let { service } = world
    let { answer } = actorOf(world, index)
    for (const said of moment.said) {
      if (said.kind === 'answered') judge.answered(said.token, world.now)
      else if (said.kind === 'failed') judge.failed(said.call, said.error)
      else {
        service = service.fork()
        answer = service.refresh(said.tokens.refresh_token, world.now)
        judge.sent(index, said.tokens, answer, world.now)
      }
    }
    return { ...withActor(world, index, { ...actorOf(world, index), answer }), service, judge }
  }

  async function complete(world: World): Promise<string | undefined> {
    const left = { crashes: 0, pauses: 0, lostReplies: 0, storeFailures: 0, signIns: 0, signOuts: 0, expiries: 0 }
    const ended = await playOut({ ...world, left })
    // Once more when every access token has expired, by processes started anew: what counts is what was stored.
    const now = ended.now + (life + 60) * 1000
    const processes = ended.processes.map(({ incarnation }, index) =>
      startedActor(behaviour, index, incarnation + 1, 1),
    )
    const { judge, stored, service } = await playOut({ ...ended, now, processes })
    judge.final(stored.record, service)
    return judge.verdicts[0]
  }

  async function playOut(from: World): Promise<World> {
    let world = from
    for (let steps = 0; steps < 400; steps += 1) {
      const [next] = enabled(world)
      if (next === undefined) return world
      const after = perform(world, next)
      world = after instanceof Promise ? await after : after
    }
    world.judge.stuck()
    return world
  }

  return { first: firstWorld(scenario, behaviour), perform, complete }
}
