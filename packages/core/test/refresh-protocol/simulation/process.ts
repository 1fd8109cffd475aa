/**
 * A simulated process: a real token manager whose every step outward waits until the world tells how it ended.
 */
import { StoreError, UnreachableError } from '../../../src/errors.ts'
import { manageTokens } from '../../../src/refresh-protocol/manager.ts'
import type { Runtime } from '../../../src/refresh-protocol/runtime.ts'
import type { RefreshOptions } from '../../../src/sso.ts'
import type { AccountRecord } from '../../../src/token-record.ts'
import type { TokenSet } from '../../../src/token-set.ts'
import type { Conflict, TokenStore, Versioned } from '../../../src/token-store.ts'
import { account } from './scenario.ts'
import type { Scenario } from './scenario.ts'
import type { Answer } from './service.ts'

/** What a process wants to do next. */
export interface Step {
  readonly name: string
  readonly kind: 'read' | 'swap' | 'send' | 'reply' | 'timer'
  /** Of a swap. */
  readonly write?: { readonly expected: number; readonly next: AccountRecord; readonly writeId: string }
  /** Of a send and its reply: what is refreshed. */
  readonly tokens?: TokenSet
  /** Of a timer: it only leads to a look at the record, not to the repetition of a commit. */
  readonly looks?: boolean
}

/** What a process is told: to begin something, or how a step of it ended. */
export interface Told {
  /** Tells it from all else that the process could have been told. */
  readonly key: string
  readonly what: 'call' | 'sign-in' | 'sign-out' | Step
  readonly answer?: Versioned | Conflict | Answer | TokenSet | 'failed' | 'lost' | undefined
  readonly now: number
  /** How often each process has crashed, where that can be found out. */
  readonly incarnations: readonly number[]
}

/** What comes of it at once: a request that was sent, a caller's answer. */
export type Said =
  | { readonly kind: 'sent'; readonly tokens: TokenSet }
  | { readonly kind: 'answered'; readonly token: string }
  | { readonly kind: 'failed'; readonly call: string; readonly error: unknown }

export interface Process {
  tell(told: Told): Promise<void>
  readonly pending: ReadonlyMap<string, Step>
  /** What was said since the last `tell`. */
  readonly said: readonly Said[]
  /** Calls that wait for their answer. */
  readonly busy: number
}

/** The part of a scenario that a process is made of. */
export type Nature = Pick<Scenario, 'rules' | 'storeOf' | 'sameHost'>

interface Open {
  readonly step: Step
  readonly end: (answer: Told['answer']) => void
}

/** @param incarnation - 0 for the first process of this index, one more after each crash */
export function startProcess(index: number, incarnation: number, nature: Nature): Process {
  const open = new Map<string, Open>()
  let told: Pick<Told, 'now' | 'incarnations'> = { now: 0, incarnations: [] }
  let said: Said[] = []
  let [steps, ids, busy] = [0, 0, 0]

  /** Returns how to take it back. */
  function offer(kind: Step['kind'], end: Open['end'], details: Partial<Step> = {}): () => void {
    const name = `p${index}.${steps} ${kind}`
    steps += 1
    open.set(name, { step: { name, kind, ...details }, end })
    return () => void open.delete(name)
  }

  const store: TokenStore = {
    // Nobody meets the firewall in this world.
    read: async (name) => (name === account ? asked('read', {}) : undefined),
    swap: async (name, expected, next, writeId) =>
      name === account
        ? asked('swap', { write: { expected, next: next as AccountRecord, writeId } })
        : { version: expected + 1, record: next },
  }
  async function asked<Value>(kind: 'read' | 'swap', details: Partial<Step>): Promise<Value> {
    return new Promise((resolve, reject) => {
      const end = (answer: unknown): void =>
        answer === 'failed' ? reject(new StoreError('unavailable', 'simulated')) : resolve(answer as Value)
      offer(kind, end, details)
    })
  }

  /** The guard and the write to the socket are one step, with the service's part; the answer is another. */
  async function refresh(tokens: TokenSet, options: RefreshOptions = {}): Promise<TokenSet> {
    return new Promise((resolve, reject) => {
      const reply = (answer: unknown): void => void outcome(answer as Answer | 'lost').then(resolve, reject)
      const send = (): void => {
        try {
          options.beforeSend?.()
        } catch (error) {
          reject(error)
          return
        }
        said.push({ kind: 'sent', tokens })
        offer('reply', reply, { tokens })
      }
      offer('send', send, { tokens })
    })
  }

  const runtime: Runtime = {
    wallClock: () => told.now,
    monotonicClock: () => told.now,
    random: () => 0.5,
    uniqueId: () => `${index}.${incarnation}-${(ids += 1)}`,
    after: (milliseconds, callback) => offer('timer', callback, { looks: milliseconds < 250 }),
    keepAlive: () => () => undefined,
    holder: { pid: index, started: String(incarnation) },
    vitality: ({ pid, started }) => {
      if (!nature.sameHost) return 'unknown'
      return started === String(told.incarnations[pid]) ? 'running' : 'dead'
    },
  }
  const options = { store: nature.storeOf?.(store) ?? store, sso: { refresh }, cachedAccounts: 1 }
  const manager = manageTokens(options, runtime, nature.rules)

  async function follow(call: string, result: Promise<string | void>): Promise<void> {
    busy += 1
    try {
      const token = await result
      if (typeof token === 'string') said.push({ kind: 'answered', token })
    } catch (error) {
      said.push({ kind: 'failed', call, error })
    }
    busy -= 1
  }

  function hear({ what, answer }: Told): void {
    if (what === 'call') void follow('getAccessToken', manager.getAccessToken(account))
    else if (what === 'sign-in') void follow('save', manager.save(account, answer as TokenSet))
    else if (what === 'sign-out') void follow('forget', manager.forget(account))
    else {
      const step = open.get(what.name)
      if (step === undefined) throw new Error(`nobody can do ${what.name}`)
      open.delete(what.name)
      step.end(answer)
    }
  }

  return {
    async tell(next) {
      told = next
      said = []
      hear(next)
      await new Promise((resolve) => process.nextTick(resolve))
    },
    get pending() {
      return new Map([...open].map(([name, { step }]) => [name, step]))
    },
    get said() {
      return said
    },
    get busy() {
      return busy
    },
  }
}

async function outcome(answer: Answer | 'lost'): Promise<TokenSet> {
  if (answer === 'lost') throw new UnreachableError('simulated', { requestSent: true })
  if (answer.tokens === undefined) throw answer.error ?? new Error('neither tokens nor an error')
  return answer.tokens
}
