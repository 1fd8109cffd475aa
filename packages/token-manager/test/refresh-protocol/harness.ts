/**
 * Token managers with a clock that the test moves, a service that answers as told, and a store that can fail.
 */
import {
  type IssuerRefreshOptions as RefreshOptions,
  StoreError,
  type TokenManager,
  type TokenManagerEvents,
  type TokenManagerOptions,
  type TokenRecord,
  type TokenSet,
  type TokenStore,
} from '../../src/index.ts'
import type { Liveness } from '../../src/support/holder.ts'
import type { Runtime } from '../../src/support.ts'
import { manageTokens } from '../../src/manager/manager.ts'
import { machine } from '../../src/kernel/machine.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'

export const account = 'owner@example.com'
const hour = 3_600_000

export interface Bench {
  readonly store: ReturnType<typeof mapStore> & { down: boolean }
  /** The refresh tokens that were sent, in order. */
  readonly sent: string[]
  /** How the service answers; by default with `newTokens`. */
  answer: (tokens: TokenSet, options?: RefreshOptions) => Promise<TokenSet>
  /** The answer of a service that is well: new tokens that last eight hours. */
  readonly newTokens: Bench['answer']
  /** How a request is connected: by default at once. What it is given is the send guard. */
  connect: (beforeSend: () => void) => Promise<void> | void
  /** So much time passes. */
  after(milliseconds: number): Promise<void>
  /** A token set as of now. */
  tokens(overrides?: Partial<TokenSet>): TokenSet
  /** Who can be proven to run or to be dead; `unknown` where it is not named. */
  readonly liveness: Map<number, Liveness>
  /** A process of its own, whose wall clock may be off by some milliseconds; the first one is number 1. */
  process(options?: Partial<TokenManagerOptions>, skew?: number, random?: () => number): TokenManager
  /** Time passes on both clocks, and what was due happens. */
  pass(milliseconds: number): Promise<void>
  /** Every process looks whether there was a roll call, as it does every 15 seconds. */
  rollCall(): Promise<void>
  /** The wall clock of every process jumps. */
  jump(milliseconds: number): void
  /** Calls of the store have their time limit, in processes that begin from now on. */
  hasTimeLimits: boolean
  /** How many timers are set, of all processes: those for once and the regular ones. */
  timers(): number
  /** How many keep their process alive at the moment. */
  keptAlive: number
  /** Milliseconds since the epoch, without jumps. */
  now(): number
}

export function bench(): Bench {
  const time = { passed: 0, jumped: 0 }
  const start = Date.UTC(2026, 0, 1)
  const timers = new Set<{ due: number; callback: () => void }>()
  const regular = new Set<() => void>()
  const beneath = mapStore()
  let serial = 0

  const store: Bench['store'] = { ...beneath, down: false, read: (name) => up(beneath.read(name)), swap }
  async function up<Value>(operation: Promise<Value>): Promise<Value> {
    if (store.down) throw new StoreError('unavailable', 'The store is down.')
    return operation
  }
  async function swap(...args: Parameters<TokenStore['swap']>): ReturnType<TokenStore['swap']> {
    if (store.down) throw new StoreError('write-failed', 'The store is down.')
    return beneath.swap(...args)
  }

  const self: Bench = {
    store,
    sent: [],
    keptAlive: 0,
    hasTimeLimits: false,
    liveness: new Map(),
    answer: (tokens) => self.newTokens(tokens),
    newTokens: async (tokens) =>
      self.tokens({ refresh_token: `r${(serial += 1)}`, access_token: `a${serial}`, auth_url: tokens.auth_url }),
    connect: (beforeSend) => beforeSend(),
    after: (milliseconds) =>
      new Promise((resolve) => timers.add({ due: time.passed + milliseconds, callback: resolve })),
    tokens: (overrides) => ({
      access_token: 'a0',
      refresh_token: 'r0',
      token_type: 'Bearer',
      expires_at: Math.floor(self.now() / 1000) + 8 * 3600,
      auth_url: 'http://127.0.0.1:9',
      ...overrides,
    }),
    process(options, skew = 0, random = () => 0.5) {
      const name = `process-${(processes += 1)}`
      let ids = 0
      const runtime: Runtime = {
        wallClock: () => start + time.passed + time.jumped + skew,
        monotonicClock: () => time.passed,
        random,
        uniqueId: () => `${name}-${(ids += 1)}`,
        after(milliseconds, callback) {
          const timer = { due: time.passed + milliseconds, callback }
          timers.add(timer)
          return () => void timers.delete(timer)
        },
        every(_milliseconds, callback) {
          regular.add(callback)
          return () => void regular.delete(callback)
        },
        keepAlive() {
          self.keptAlive += 1
          return () => void (self.keptAlive -= 1)
        },
        holder: { pid: processes, boot: name },
        livenessOf: ({ pid }) => self.liveness.get(pid) ?? 'unknown',
      }
      if (self.hasTimeLimits) Object.assign(runtime, { limit: runtime.after })
      const issuer = {
        refresh: async (tokens: TokenSet, call: RefreshOptions = {}) => {
          await self.connect(() => call.beforeSend?.())
          self.sent.push(tokens.refresh_token)
          return self.answer(tokens, call)
        },
      }
      return manageTokens({ issuer, store, ...options }, runtime, machine)
    },
    async pass(milliseconds) {
      const end = time.passed + milliseconds
      for (;;) {
        await idle()
        const [next] = [...timers].filter(({ due }) => due <= end).toSorted((one, other) => one.due - other.due)
        if (next === undefined) break
        timers.delete(next)
        time.passed = Math.max(time.passed, next.due)
        next.callback()
      }
      time.passed = end
      await idle()
    },
    async rollCall() {
      for (const callback of regular) callback()
      await idle()
    },
    jump(milliseconds) {
      time.jumped += milliseconds
    },
    timers: () => timers.size + regular.size,
    now: () => start + time.passed,
  }
  let processes = 0
  return self
}

/** The account, signed in so many milliseconds ago by a first process. `other` is one more process, whenever it is asked for. */
export async function signedIn(ago = 0, options: Partial<TokenManagerOptions> = {}) {
  const world = bench()
  const tokens = world.process(options)
  await tokens.save(account, world.tokens())
  if (ago > 0) await world.pass(ago)
  return {
    world,
    tokens,
    get other() {
      return world.process()
    },
  }
}

/** Until nothing is left that could happen without time passing. */
export const idle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

export const hours = (count: number): number => count * hour

/** Something that a test answers when it likes. */
export function deferred<Value>(): {
  promise: Promise<Value>
  resolve: (value: Value) => void
  reject: (error: Error) => void
} {
  let resolve!: (value: Value) => void
  let reject!: (error: Error) => void
  const promise = new Promise<Value>((resolved, rejected) => {
    resolve = resolved
    reject = rejected
  })
  return { promise, resolve, reject }
}

/** What a token manager tells of such events from now on. */
export function heardBy(tokens: TokenManager, name: keyof TokenManagerEvents): unknown[] {
  const heard: unknown[] = []
  tokens.on(name, (event) => heard.push(event))
  return heard
}

export async function namesIn(listed: { accounts(): AsyncIterable<string> }): Promise<string[]> {
  const names: string[] = []
  for await (const name of listed.accounts()) names.push(name)
  return names
}

/** A record as somebody else may have put it into a store: anything. */
export const anyRecord = (value: unknown): TokenRecord => JSON.parse(JSON.stringify(value))
