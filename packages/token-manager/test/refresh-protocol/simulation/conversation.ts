/**
 * What a process of a simulated world is told, and what becomes of what it says.
 */
import { FirewallChallengeError } from '../../../src/errors.ts'
import type { Behaviour, Moment } from './behaviour.ts'
import { timesOf } from './clocks.ts'
import type { Evidence } from './evidence.ts'
import * as judge from './judge.ts'
import type { Said, Told } from './process.ts'
import { actorOf, withActor, type World } from './world.ts'

/** Seconds that the service's firewall blocks. */
const block = 600

/** What is told, in words that tell it from all else. */
export interface Message extends Pick<Told, 'what' | 'answer'> {
  readonly words: string
  /** The service's firewall takes what is sent. */
  readonly isBlocked?: boolean
}

/** Tells a process something; a promise where it has to be found out what it makes of it. */
export type Tell = (world: World, index: number, message: Message) => World | Promise<World>

export function conversationOf(behaviour: Behaviour, sameHost: boolean): Tell {
  return (world, index, { what, answer, words, isBlocked = false }) => {
    const incarnations = sameHost ? world.processes.map(({ incarnation }) => incarnation) : []
    const { clocks, moment } = actorOf(world, index)
    const times = timesOf(clocks, index, world.now)
    const key = `${words}@${times.wall}/${times.monotonic} ${incarnations.join('.')}`
    const after = behaviour.tell(moment, { key, what, answer, times, incarnations })
    return after instanceof Promise
      ? after.then((found) => hear(world, index, found, isBlocked))
      : hear(world, index, after, isBlocked)
  }
}

function hear(before: World, index: number, moment: Moment, isBlocked: boolean): World {
  let world = withActor(before, index, { moment })
  for (const said of moment.said) world = afterSaid(world, index, said, isBlocked)
  return world
}

function afterSaid(world: World, index: number, said: Said, isBlocked: boolean): World {
  const { now } = world
  const { incarnation } = actorOf(world, index)
  const ruled = (look: (seen: Evidence) => string | undefined): World => ({
    ...world,
    evidence: judge.judged(world.evidence, look),
  })
  if (said.kind === 'sent') return afterSent(world, index, said, isBlocked)
  if (said.kind === 'answered') {
    const next = ruled((seen) => judge.answered(seen, `${index}.${incarnation}`, said.token, now))
    return withActor(next, index, { given: said.token })
  }
  if (said.kind === 'failed') return ruled((seen) => judge.failed(seen, said.call, said.error))
  if (said.kind === 'refreshed') return ruled((seen) => judge.refreshed(seen, index, now))
  return withActor(
    ruled((seen) => judge.left(seen, index, 'settled')),
    index,
    { leaving: 'may-exit' },
  )
}

function afterSent(world: World, index: number, { tokens }: Said & { kind: 'sent' }, isBlocked: boolean): World {
  const { now } = world
  const { clocks } = actorOf(world, index)
  const { wall } = timesOf(clocks, index, now)
  const evidence = judge.judged(world.evidence, (seen) => judge.sent(seen, { process: index, tokens, now, wall }))
  if (isBlocked) {
    const until = now + block * 1000
    const error = new FirewallChallengeError(Math.ceil((wall + block * 1000) / 1000), { step: 'refresh', status: 403 })
    const answer = { error, repeated: false }
    const blocked = judge.judged(evidence, (seen) => judge.blocked(seen, tokens, index, until))
    return withActor({ ...world, evidence: blocked }, index, { answer })
  }
  const service = world.service.fork()
  const answer = service.refresh(tokens.refresh_token, now)
  const issued = judge.judged(evidence, (seen) =>
    answer.tokens === undefined ? judge.refusedToRefresh(seen, index, tokens) : judge.issued(seen, answer.tokens),
  )
  return withActor({ ...world, service, evidence: issued }, index, { answer })
}
