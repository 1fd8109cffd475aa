/**
 * A simulated process: a real token manager whose every step outward waits to be performed by the world.
 */
import { UnreachableError } from '../../../src/errors.ts'
import { manageTokens } from '../../../src/refresh-protocol/manager.ts'
import type { Runtime } from '../../../src/refresh-protocol/runtime.ts'
import type { RefreshOptions } from '../../../src/sso.ts'
import type { TokenManager } from '../../../src/token-manager.ts'
import type { TokenSet } from '../../../src/token-set.ts'
import type { Judge } from './judge.ts'
import type { Scenario } from './scenario.ts'
import type { Answer, Service } from './service.ts'
import type { SimulatedStore } from './store.ts'

/** One step that can be performed next; `how` it ends is the world's choice. Returns what the process was told. */
export interface Pending {
  readonly name: string
  readonly kind: 'read' | 'swap' | 'send' | 'reply' | 'timer'
  readonly perform: (how: string) => string
  /** Of a timer: it would only find what its process has seen already. */
  readonly idle: () => boolean
}

export interface Process {
  readonly index: number
  /** Grows with each crash. */
  readonly incarnation: number
  manager: TokenManager
  readonly pending: Map<string, Pending>
  /** All that this incarnation was told, which with its code decides its state. */
  history: string
  /** The version and the moment of the last read. */
  lastRead: string
  /** Steps so far, to name the next one. */
  steps: number
  /** Calls of `getAccessToken` still to be made. */
  calls: number
  /** Calls that wait for their answer. */
  busy: number
}

export interface Surroundings {
  readonly scenario: Scenario
  readonly service: Service
  readonly store: SimulatedStore
  readonly judge: Judge
  readonly now: () => number
  readonly incarnationOf: (index: number) => number
}

export function startProcess(index: number, incarnation: number, calls: number, world: Surroundings): Process {
  const process: Process = {
    index,
    incarnation,
    manager: undefined as unknown as TokenManager,
    pending: new Map(),
    history: '',
    lastRead: '',
    steps: 0,
    calls,
    busy: 0,
  }
  const store = world.store.clientOf(process, world.now)
  process.manager = manageTokens(
    {
      store: world.scenario.storeOf?.(store) ?? store,
      sso: { refresh: (tokens, options) => send(process, tokens, options ?? {}, world) },
      cachedAccounts: 1,
    },
    runtimeOf(process, world),
    world.scenario.rules,
  )
  return process
}

/** Makes a step available. Returns how to take it back. */
export function offer(
  process: Process,
  kind: Pending['kind'],
  perform: Pending['perform'],
  idle: Pending['idle'] = () => false,
): () => void {
  const name = `p${process.index}.${process.steps} ${kind}`
  process.steps += 1
  process.pending.set(name, { name, kind, perform, idle })
  return () => void process.pending.delete(name)
}

/** The guard and the write to the socket are one step, with the service's part; the answer is another. */
async function send(
  process: Process,
  tokens: TokenSet,
  options: RefreshOptions,
  world: Surroundings,
): Promise<TokenSet> {
  return new Promise((resolve, reject) => {
    offer(process, 'send', () => {
      try {
        options.beforeSend?.()
      } catch (error) {
        reject(error)
        return 'guarded'
      }
      const answer = world.service.refresh(tokens.refresh_token, world.now())
      world.judge.sent(process.index, tokens, answer)
      offer(process, 'reply', (how) => {
        if (how === 'lost') world.judge.lost(process.index, tokens)
        outcome(answer, how).then(resolve, reject)
        return `${how}${answer.tokens?.access_token}`
      })
      return 'sent'
    })
  })
}

async function outcome({ tokens, error }: Answer, how: string): Promise<TokenSet> {
  if (how === 'lost') throw new UnreachableError('simulated', { requestSent: true })
  if (tokens === undefined) throw error ?? new Error('neither tokens nor an error')
  return tokens
}

function runtimeOf(process: Process, { scenario, store, now, incarnationOf }: Surroundings): Runtime {
  let ids = 0
  return {
    wallClock: now,
    monotonicClock: now,
    random: () => 0.5,
    uniqueId: () => `${process.index}.${process.incarnation}-${(ids += 1)}`,
    after: (milliseconds, callback) =>
      offer(
        process,
        'timer',
        () => {
          callback()
          return ''
        },
        // Only a look at the record can be one too many; the repetition of a commit is always worth it.
        () => milliseconds < 250 && process.lastRead === `${store.version()}@${now()}`,
      ),
    keepAlive: () => () => undefined,
    holder: { pid: process.index, started: String(process.incarnation) },
    vitality: ({ pid, started }) => {
      if (!scenario.sameHost) return 'unknown'
      return started === String(incarnationOf(pid)) ? 'running' : 'dead'
    },
  }
}
