/** A clock, a store and an account that only a test moves. */
import { type Runtime, systemRuntime } from '../../src/support/runtime.ts'
import type { SignedIn } from '../../src/store/token-record.ts'
import type { mapStore } from '../../../../tests/support/map-store.ts'

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

/** The record of an account that was refreshed once. */
export const signedIn = (more: Partial<SignedIn> = {}): SignedIn => ({
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
})
