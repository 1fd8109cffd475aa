/**
 * A simulated process: a real token manager whose every step outward waits until the world tells how it ended.
 */
import { StoreError, UnreachableError } from '../../../src/errors.ts'
import { manageTokens } from '../../../src/manager/manager.ts'
import { firewallRecordName } from '../../../src/store/own-record.ts'
import type { Runtime } from '../../../src/support/runtime.ts'
import type { IssuerRefreshOptions as RefreshOptions } from '../../../src/issuer/token-issuer.ts'
import type { TokenManager } from '../../../src/manager/token-manager.ts'
import type { TokenSet } from '../../../src/issuer/token-set.ts'
import type { Conflict, TokenStore, Versioned } from '../../../src/store/token-store.ts'
import type { Times } from './clocks.ts'
import { account, type Nature } from './scenario.ts'
import { type Answer, authUrl } from './service.ts'
import type { Shelf, Write } from './store.ts'

/** What a process wants to do next. */
export interface Step {
  readonly name: string
  readonly kind: 'read' | 'swap' | 'send' | 'reply' | 'timer'
  /** Of a store operation. */
  readonly shelf?: Shelf
  /** Of a swap. */
  readonly write?: Write
  /** Of a send and its reply: what is refreshed. */
  readonly tokens?: TokenSet
  /** Of a timer: when it fires, by the monotonic clock of its process. */
  readonly due?: number
  /** Of a timer: it only leads to a look at the record, which a hint of the store may do at any time. */
  readonly looks?: boolean
}

/** What somebody asks of a process. */
export type Call = 'call' | 'sign-in' | 'import' | 'sign-out' | 'refresh' | 'refuse' | 'look' | 'settle'

/** What a process is told: to begin something, or how a step of it ended. */
export interface Told {
  /** Tells it from all else that the process could have been told. */
  readonly key: string
  readonly what: Call | Step
  readonly answer?: Versioned | Conflict | Answer | TokenSet | string | undefined
  readonly times: Times
  /** How often each process has crashed, where that can be found out. */
  readonly incarnations: readonly number[]
}

/** What comes of it at once: a request that was sent, a caller's answer. */
export type Said =
  | { readonly kind: 'sent'; readonly tokens: TokenSet }
  | { readonly kind: 'answered'; readonly token: string }
  | { readonly kind: 'refreshed' | 'settled' }
  | { readonly kind: 'failed'; readonly call: Call; readonly error: unknown }

export interface Process {
  tell(told: Told): Promise<void>
  readonly pending: ReadonlyMap<string, Step>
  /** What was said since the last `tell`. */
  readonly said: readonly Said[]
  /** Calls that wait for their answer. */
  readonly busy: number
}

interface Open {
  readonly step: Step
  readonly end: (answer: Told['answer']) => void
}

/** @param incarnation - 0 for the first process of this index, one more after each crash */
export function startProcess(index: number, incarnation: number, nature: Nature): Process {
  const open = new Map<string, Open>()
  let told: Pick<Told, 'times' | 'incarnations'> = { times: { wall: 0, monotonic: 0 }, incarnations: [] }
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
    async read(name) {
      const shelf = shelfOf(name)
      return shelf && asked('read', { shelf })
    },
    async swap(name, expected, next, writeId, options) {
      const shelf = shelfOf(name)
      // Nobody answers a roll call in this world, nor saves the same refresh token twice.
      if (shelf === undefined) return { version: expected + 1, record: next }
      return asked('swap', { shelf, write: { expected, expectedWriteId: options?.expectedWriteId, next, writeId } })
    },
  }
  function shelfOf(name: string): Shelf | undefined {
    if (name === account) return 'account'
    return nature.firewall && name === firewallRecordName(authUrl) ? 'firewall' : undefined
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
      const send = (how: Told['answer']): void => {
        if (how === 'unreachable') return reject(new UnreachableError('simulated', { requestSent: false }))
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
    wallClock: () => told.times.wall,
    monotonicClock: () => told.times.monotonic,
    random: () => 0.5,
    uniqueId: () => `${index}.${incarnation}-${(ids += 1)}`,
    after: (milliseconds, callback) =>
      offer('timer', callback, { due: told.times.monotonic + milliseconds, looks: milliseconds < 250 }),
    keepAlive: () => () => undefined,
    holder: { pid: index, started: String(incarnation) },
    livenessOf: ({ pid, started }) => {
      if (!nature.sameHost) return 'unknown'
      return started === String(told.incarnations[pid]) ? 'running' : 'dead'
    },
  }
  const options = {
    store,
    issuer: { refresh },
    cachedAccounts: 1,
    rotationGrace: nature.rotationGrace,
    refresh: nature.elsewhere.includes(index) ? ('elsewhere' as const) : undefined,
  }
  const manager = manageTokens(options, runtime, nature.machine, nature.compose)

  async function follow(call: Call, result: Promise<unknown>): Promise<void> {
    busy += 1
    try {
      const answer = await result
      if (call === 'call') said.push({ kind: 'answered', token: answer as string })
      if (call === 'refresh') said.push({ kind: 'refreshed' })
      if (call === 'settle') said.push({ kind: 'settled' })
    } catch (error) {
      said.push({ kind: 'failed', call, error })
    }
    busy -= 1
  }

  function hear({ what, answer }: Told): void {
    if (typeof what === 'string') return void follow(what, begun(manager, what, answer))
    const step = open.get(what.name)
    if (step === undefined) throw new Error(`nobody can do ${what.name}`)
    open.delete(what.name)
    step.end(answer)
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

/** A call of the token manager. */
function begun(manager: TokenManager, call: Call, details: Told['answer']): Promise<unknown> {
  if (call === 'sign-in') return manager.save(account, details as TokenSet)
  if (call === 'import') {
    const { refresh_token, auth_url } = details as TokenSet
    return manager.save(account, { refresh_token, auth_url })
  }
  if (call === 'sign-out') return manager.forget(account)
  if (call === 'refresh') return manager.refresh(account)
  if (call === 'refuse') return manager.invalidate(account, details as string)
  if (call === 'look') return manager.status(account)
  if (call === 'settle') return manager.settled()
  return manager.getAccessToken(account)
}

async function outcome(answer: Answer | 'lost'): Promise<TokenSet> {
  if (answer === 'lost') throw new UnreachableError('simulated', { requestSent: true })
  if (answer.tokens === undefined) throw answer.error ?? new Error('neither tokens nor an error')
  return answer.tokens
}
