/**
 * The simulated world: real token managers over one simulated store and service, each with clocks of its own. It is a
 * value: what happens in it leads to another one.
 */
import { lineageOf } from '../../../src/store/lineage.ts'
import { bareTokenSet } from '../../../src/issuer/token-set.ts'
import type { Behaviour, Moment } from './behaviour.ts'
import { type Clocks, start } from './clocks.ts'
import { type Evidence, firstEvidence, nameOfAll } from './evidence.ts'
import { account, type Allowances, allowancesOf, type Scenario } from './scenario.ts'
import { type Answer, createService, life, type Service } from './service.ts'
import { type Stock, type Stored, storedAs } from './store.ts'

export interface World {
  /** Milliseconds since the epoch, as no process knows it. */
  readonly now: number
  /** What may still go wrong or happen. */
  readonly left: Allowances
  readonly processes: readonly Actor[]
  readonly stock: Stock
  /** Milliseconds by which a wall clock may be set. */
  readonly jumpBy: readonly number[]
  /** What the account's record was before, the newest first: where a rollback may lead. */
  readonly before: readonly Stored[]
  readonly service: Service
  readonly evidence: Evidence
}

/** A process in a world. */
export interface Actor {
  readonly moment: Moment
  /** Grows with each crash. */
  readonly incarnation: number
  /** Calls of `getAccessToken` still to be made. */
  readonly calls: number
  readonly clocks: Clocks
  /** What stood in the store at the last read, and the time of it. */
  readonly lastRead: string
  /** The service's answer, while it is on its way. */
  readonly answer: Answer | undefined
  /** The access token that it was given last. */
  readonly given: string | undefined
  readonly isCut: boolean
  /** `settled` was called, and nothing was asked of it since; `may-exit` once it has resolved. */
  readonly leaving: 'no' | 'settling' | 'may-exit'
}

/** Milliseconds that the first access token has left. */
const lifeLeft = { fresh: (life - 1) * 1000, ageing: 3_600_000, expired: -1000, bare: -1000 }
/** Times that it can grow older. */
const ages = { fresh: 2, ageing: 1, expired: 0, bare: 0 }

/** When the first access token ends. */
export function expiryOf({ token }: Scenario): number {
  return start + lifeLeft[token]
}

export function firstWorld(scenario: Scenario, behaviour: Behaviour): World {
  const service = createService(scenario.rotation)
  const issued = service.signIn(expiryOf(scenario) - life * 1000)
  const isBare = scenario.token === 'bare'
  const tokens = isBare ? bareTokenSet(issued) : issued
  const lineage = lineageOf(account, tokens.refresh_token)
  const times = { obtained_at: expiryOf(scenario) / 1000 - life, lifetime: isBare ? 0 : life }
  const record = { schema: 1, state: 'signed-in', generation: 1, refreshes: 0, lineage, tokens, ...times } as const
  const expiries = ages[scenario.token]
  const spread = Math.max(0, ...scenario.skews) - Math.min(0, ...scenario.skews)
  return {
    now: start,
    left: { ...allowancesOf(scenario), expiries },
    processes: Array.from({ length: scenario.processes }, (_, index) => {
      const clocks = { ahead: scenario.skews[index] ?? 0, slept: 0 }
      return startedActor(behaviour, index, { incarnation: 0, calls: scenario.calls, clocks })
    }),
    stock: { account: storedAs(1, record, ''), firewall: undefined },
    before: [],
    jumpBy: scenario.jumpBy,
    service,
    evidence: firstEvidence(scenario, spread, tokens),
  }
}

export function startedActor(
  behaviour: Behaviour,
  index: number,
  { incarnation, calls, clocks }: Pick<Actor, 'incarnation' | 'calls' | 'clocks'>,
): Actor {
  return {
    moment: behaviour.begin(index, incarnation),
    incarnation,
    calls,
    clocks,
    lastRead: '',
    answer: undefined,
    given: undefined,
    isCut: false,
    leaving: 'no',
  }
}

export function actorOf({ processes }: World, index: number): Actor {
  const actor = processes[index]
  if (actor === undefined) throw new Error(`there is no process ${index}`)
  return actor
}

export function withActor(world: World, index: number, change: Partial<Actor>): World {
  return { ...world, processes: world.processes.with(index, { ...actorOf(world, index), ...change }) }
}

export const nameOf = (answer: Answer | undefined): string =>
  answer?.tokens === undefined
    ? (answer?.error?.name ?? '')
    : `${answer.tokens.refresh_token}/${answer.tokens.access_token}/${answer.tokens.expires_at}`

/** Everything that decides how a world goes on. */
export function stateOf({ now, left, processes, stock, before, service, evidence }: World): string {
  let text = `${now}|${stock.account?.name}|${stock.account?.writeId}|${stock.firewall?.name}|${service.state()}|${nameOfAll(evidence)}`
  for (const { moment, incarnation, calls, clocks, answer, given, isCut, leaving } of processes) {
    text += `|${moment.id}.${incarnation}.${calls}.${clocks.ahead}.${clocks.slept}.${nameOf(answer)}.${given}.${isCut}.${leaving}`
  }
  for (const name in left) text += `.${left[name as keyof Allowances]}`
  for (const stored of before) text += `<${stored.name} ${stored.writeId}`
  return text
}
