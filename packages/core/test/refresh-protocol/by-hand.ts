/** A clock, a store and an account that only a test moves. */
import { guardStore } from '../../src/refresh-protocol/guarded-store.ts'
import { acceptRecord, createAccountMemory } from '../../src/refresh-protocol/account-memory.ts'
import { machine } from '../../src/refresh-protocol/machine.ts'
import type { Context } from '../../src/refresh-protocol/context.ts'
import { type Runtime, systemRuntime } from '../../src/refresh-protocol/runtime.ts'
import type { AccountRecord } from '../../src/tokens/token-record.ts'
import { mapStore } from '../map-store.ts'

export const authUrl = 'https://auth.example.com'

/** A clock that only the test moves, as a runtime has it: milliseconds from the beginning. */
export function slowClock(skew = 0): { now: number; wallOnly: number; random: number; runtime: Runtime } {
  let ids = 0
  const clock = { now: 0, wallOnly: 0, random: 0.5 }
  const runtime: Runtime = {
    ...systemRuntime,
    wallClock: () => start * 1000 + clock.now + clock.wallOnly + skew,
    monotonicClock: () => clock.now,
    random: () => clock.random,
    uniqueId: () => `${skew} ${(ids += 1)}`,
    holder: { pid: 1, boot: 'b' },
    livenessOf: () => 'unknown',
  }
  return Object.assign(clock, { runtime })
}

export const start = 1_790_000_000

/** Timers that only the test ends, as a runtime has them. */
export function timersByHand(): {
  readonly timers: Map<object, { readonly milliseconds: number; readonly callback: () => void }>
  readonly after: Runtime['after']
} {
  const timers = new Map<object, { readonly milliseconds: number; readonly callback: () => void }>()
  return {
    timers,
    after: (milliseconds, callback) => {
      const key = {}
      timers.set(key, { milliseconds, callback })
      return () => void timers.delete(key)
    },
  }
}

/** Whatever is due by now has happened. */
export async function turns(): Promise<void> {
  for (let count = 0; count < 12; count += 1) await new Promise((resolve) => setImmediate(resolve))
}

/** A store that takes its time: what is not awaited is not done yet. */
export function slowly(memory: ReturnType<typeof mapStore>): ReturnType<typeof mapStore> {
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  return {
    ...memory,
    read: async (name) => {
      await turn()
      return memory.read(name)
    },
    swap: async (...call) => {
      await turn()
      return memory.swap(...call)
    },
  }
}

/** What a process knows of an account that has such a record, as of its first sight at the clock's time. */
export function known(clock: ReturnType<typeof slowClock>, record: object = {}) {
  const store = mapStore()
  const context = {
    runtime: clock.runtime,
    rules,
    store: guardStore(store, undefined),
    minRefreshInterval: 60_000,
    rotationGrace: 0,
    refreshAfter: 0.75,
    memory: createAccountMemory(4),
  } as unknown as Context
  const cache = context.memory.of('ann')
  const whole = signedIn(record)
  store.put('ann', { version: 3, writeId: 'w3', record: whole })
  acceptRecord(cache, { version: 3, writeId: 'w3', record: whole }, clock.runtime, 0.75)
  return { cache, context, store, record: whole }
}

export const signedIn = (more: object = {}): AccountRecord =>
  ({
    schema: 1,
    state: 'signed-in',
    generation: 1,
    session: 's',
    replaces: [],
    refreshes: 1,
    lineage: 'l1',
    obtained_at: start,
    lifetime: 28_800,
    tokens: { access_token: 'a1', refresh_token: 'r1', token_type: 'Bearer', expires_at: start, auth_url: authUrl },
    ...more,
  }) as unknown as AccountRecord

export const thrown = (call: () => unknown): unknown => {
  try {
    call()
    return undefined
  } catch (error) {
    return error
  }
}
