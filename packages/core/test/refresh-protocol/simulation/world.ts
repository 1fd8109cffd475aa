/**
 * The simulated world: real token managers over one simulated store, service and clock. It is a value: what happens in it
 * leads to another one.
 */
import { lineageOf } from '../../../src/refresh-protocol/lineage.ts'
import type { Behaviour, Moment } from './behaviour.ts'
import { createJudge } from './judge.ts'
import type { Judge } from './judge.ts'
import { account } from './scenario.ts'
import type { Scenario } from './scenario.ts'
import { createService, life } from './service.ts'
import type { Answer, Service } from './service.ts'
import { storedAs } from './store.ts'
import type { Stored } from './store.ts'

export interface World {
  readonly now: number
  /** What may still go wrong or happen, by kind. */
  readonly left: Readonly<Record<Allowance, number>>
  readonly processes: readonly Actor[]
  readonly stored: Stored
  readonly service: Service
  readonly judge: Judge
}

type Allowance = 'crashes' | 'pauses' | 'lostReplies' | 'storeFailures' | 'signIns' | 'signOuts' | 'expiries'

/** A process in a world. */
export interface Actor {
  readonly moment: Moment
  /** Grows with each crash. */
  readonly incarnation: number
  /** Calls of `getAccessToken` still to be made. */
  readonly calls: number
  /** The version and the time of the last read. */
  readonly lastRead: string
  /** The service's answer, while it is on its way. */
  readonly answer: Answer | undefined
}

const start = Date.UTC(2026, 0, 1)

/** When the first access token ends. */
export function expiryOf({ token }: Scenario): number {
  return start + (token === 'ageing' ? 3_600_000 : -1000)
}

export function firstWorld(scenario: Scenario, behaviour: Behaviour): World {
  const service = createService(scenario.rotation)
  const tokens = service.signIn(expiryOf(scenario) - life * 1000)
  const lineage = lineageOf(account, tokens.refresh_token)
  const times = { obtained_at: expiryOf(scenario) / 1000 - life, lifetime: life }
  const record = { schema: 1, state: 'signed-in', generation: 1, refreshes: 0, lineage, tokens, ...times } as const
  const { crashes, pauses, lostReplies, storeFailures, signIns, signOuts, calls } = scenario
  const expiries = scenario.token === 'ageing' ? 1 : 0
  return {
    now: start,
    left: { crashes, pauses, lostReplies, storeFailures, signIns, signOuts, expiries },
    processes: Array.from({ length: scenario.processes }, (_, index) => startedActor(behaviour, index, 0, calls)),
    stored: storedAs(1, record, ''),
    service,
    judge: createJudge(scenario.rotation, tokens),
  }
}

export function startedActor(behaviour: Behaviour, index: number, incarnation: number, calls: number): Actor {
  return { moment: behaviour.begin(index, incarnation), incarnation, calls, lastRead: '', answer: undefined }
}

export function actorOf({ processes }: World, index: number): Actor {
  const actor = processes[index]
  if (actor === undefined) throw new Error(`there is no process ${index}`)
  return actor
}

export function withActor(world: World, index: number, actor: Actor): World {
  return { ...world, processes: world.processes.with(index, actor) }
}

export const nameOf = (answer: Answer | undefined): string =>
  answer?.tokens === undefined
    ? 'refused'
    : `${answer.tokens.refresh_token}/${answer.tokens.access_token}/${answer.tokens.expires_at}`

/** Everything that decides how a world goes on. */
export function stateOf({ now, left, processes, stored, service, judge }: World): string {
  const parts = processes.map(
    ({ moment, incarnation, calls, answer }) => `${moment.id}.${incarnation}.${calls}.${answer ? nameOf(answer) : ''}`,
  )
  const fates = [stored.name, stored.writeId, service.state(), judge.state(), now]
  return [...parts, ...fates, Object.values(left).join('.')].join('|')
}
