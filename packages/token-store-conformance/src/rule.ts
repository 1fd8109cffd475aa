/**
 * What the rules of the suite are: sentences with checks, and what they need of the store.
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

/** What must hold, as a sentence about the store, with the check that throws an `AssertionError` where it does not. */
type Rules = Readonly<Record<string, (fixture: Fixture) => Promise<void>>>

/** Rules that belong together. */
export interface RuleGroup {
  readonly name: string
  /** Skipped where the store doesn't claim this. */
  readonly needs?: Claim
  readonly rules: Rules
}
