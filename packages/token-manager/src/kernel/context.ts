/**
 * What all parts of the protocol work with: the options, the surroundings, and this process's memory.
 */
import type { TokenIssuer } from '../issuer/token-issuer.ts'
import type { AccountMemory } from './account-memory.ts'
import type { AccountSpelling } from '../manager/account-spelling.ts'
import type { Background } from './background.ts'
import type { Emit } from '../manager/event-source.ts'
import type { RollCall } from '../watch-over/roll-call.ts'
import type { Settings } from './knowledge.ts'
import type { Machine } from './machine.ts'
import type { Runtime } from '../support/runtime.ts'
import type { RefreshBudget } from '../gates/budget/refresh-budget.ts'
import type { SharedFirewall } from '../gates/firewall/shared-firewall.ts'
import type { Spool } from '../store/spooling-store.ts'
import type { GuardedStore } from '../store/guarded-store.ts'
import type { UnderWay } from '../support/under-way.ts'

export interface Context {
  readonly sso: Pick<TokenIssuer, 'refresh' | 'isOfAnotherOwner'>
  readonly store: GuardedStore
  readonly spool: Spool | undefined
  /** Tells that the spool failed. */
  readonly reportSpool: (error: unknown) => void
  readonly settings: Settings
  readonly runtime: Runtime
  readonly machine: Machine
  readonly memory: AccountMemory
  readonly spelling: AccountSpelling
  readonly firewall: SharedFirewall
  /** Absent where refreshes are not limited. */
  readonly budget: RefreshBudget | undefined
  readonly rollCall: RollCall
  readonly emit: Emit
  readonly background: Background
  readonly underWay: UnderWay
}
