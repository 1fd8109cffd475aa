/**
 * What one rule of the suite is: a sentence, what it needs of the store, and a check that throws.
 */
import type { TokenStore } from '@owner-sso/token-manager'

/** What only some stores offer; `tokenStoreConformance`'s options claim it. */
export type Claim = 'reopen' | 'accounts' | 'damage' | 'watch' | 'crash'

/** A fresh store, and the ways in which a rule may reach the same data. */
export interface Fixture {
  /** Empty at the start of every rule. */
  readonly store: TokenStore
  /** Another view of the same data, as another process has it; the same store where it can't be reopened. */
  readonly reopen: () => Promise<TokenStore>
  /** Damages the record of an account where it is stored. */
  readonly damage: (account: string) => Promise<void>
  /** Lets a writer die in the middle of a write; returns the last version that was acknowledged to it. */
  readonly crash: (account: string) => Promise<number>
  /** How many random histories the linearizability rule tries. */
  readonly histories: number
}

export interface Rule {
  /** What must hold, as a sentence about the store. */
  readonly name: string
  /** Skipped where the store doesn't claim this. */
  readonly needs?: Claim
  /** Throws an `AssertionError` where the store breaks the rule. */
  readonly check: (fixture: Fixture) => Promise<void>
}

/** Rules that belong together, one file each. */
export interface RuleGroup {
  readonly name: string
  readonly rules: readonly Rule[]
}
