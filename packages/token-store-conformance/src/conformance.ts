/**
 * `tokenStoreConformance`: the rules of a token store as tests of whatever runner is passed in.
 */
import { checkOptionNames, type OptionNames, type TokenStore } from '@owner-sso/token-manager'
import { durability, dyingWriter } from './durability.ts'
import { changes, damagedRecord, listing } from './extras.ts'
import { isolation } from './isolation.ts'
import { linearizability } from './linearizability.ts'
import { roundTrip } from './round-trip.ts'
import type { Fixture, RuleGroup } from './rule.ts'
import { swap } from './swap.ts'
import { writeIds } from './write-ids.ts'

type MaybePromise<Value> = Value | Promise<Value>

/** The runner, the store, and what the store claims beyond its two operations. */
export interface TokenStoreConformanceOptions {
  /** The runner's own: Jest's, Vitest's, `node:test`'s, Mocha's. */
  readonly describe: (name: string, body: () => void) => unknown
  /** The runner's own; called as `test(name, async () => { … })`. */
  readonly test: (name: string, body: () => Promise<void>) => unknown
  /** Makes a store that is empty: asked before every rule. */
  readonly createStore: () => MaybePromise<TokenStore>
  /** Claims that records outlive the store object: opens the same data again, as another process would. */
  readonly reopen?: ((store: TokenStore) => MaybePromise<TokenStore>) | undefined
  /** Claims `accounts()`. */
  readonly accounts?: boolean | undefined
  /** Claims that a record that can't be read hides no other from `accounts()`: damages the record of this account where it is stored. */
  readonly damage?: ((store: TokenStore, account: string) => MaybePromise<void>) | undefined
  /** Claims `watch()`. */
  readonly watch?: boolean | undefined
  /**
   * Claims that a dying writer does no harm: starts a process that runs `writeUntilKilled` on the same data, kills it in
   * the middle of a write, and returns the last version that was acknowledged to it.
   */
  readonly crash?: ((store: TokenStore, account: string) => MaybePromise<number>) | undefined
  /** Called with every store that was made, when its rule is done. */
  readonly closeStore?: ((store: TokenStore) => MaybePromise<void>) | undefined
  /** How many random histories the linearizability rule tries. Default 25. */
  readonly histories?: number | undefined
}

const optionNames: OptionNames<TokenStoreConformanceOptions> = {
  describe: true,
  test: true,
  createStore: true,
  reopen: true,
  accounts: true,
  damage: true,
  watch: true,
  crash: true,
  closeStore: true,
  histories: true,
}

const groups: readonly RuleGroup[] = [
  roundTrip,
  isolation,
  swap,
  writeIds,
  linearizability,
  durability,
  dyingWriter,
  listing,
  damagedRecord,
  changes,
]

/** Registers one test for each rule that the store has to keep. Failures are `AssertionError`s of `node:assert`. */
export function tokenStoreConformance(options: TokenStoreConformanceOptions): void {
  checkOptionNames('tokenStoreConformance', options, optionNames)
  for (const { name, needs, rules } of groups) {
    if (needs !== undefined && !options[needs]) continue
    options.describe(name, () => {
      for (const [rule, check] of Object.entries(rules)) options.test(rule, () => run(check, options))
    })
  }
}

async function run(check: RuleGroup['rules'][string], options: TokenStoreConformanceOptions): Promise<void> {
  const store = await options.createStore()
  const opened = [store]
  const fixture: Fixture = {
    store,
    reopen: async () => {
      if (!options.reopen) return store
      const again = await options.reopen(store)
      opened.push(again)
      return again
    },
    damage: async (account) => options.damage?.(store, account),
    crash: async (account) => (await options.crash?.(store, account)) ?? 0,
    histories: options.histories ?? 25,
  }
  try {
    await check(fixture)
  } finally {
    for (const each of opened) await options.closeStore?.(each)
  }
}
