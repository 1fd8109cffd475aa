/**
 * What the kernel works with: whoever issues the tokens, the store, the gates before the service, and this process's own.
 */
import type { TokenIssuer } from '../issuer/token-issuer.ts'
import type { GuardedStore } from '../store/guarded-store.ts'
import type { Runtime } from '../support/runtime.ts'
import type { UnderWay } from '../support/under-way.ts'
import type { AccountMemory } from './account-memory.ts'
import type { TokenManagerEvents } from './events.ts'
import type { Gates } from './gate.ts'
import type { Settings } from './knowledge.ts'
import type { Machine } from './machine.ts'

export interface Context {
  readonly issuer: Pick<TokenIssuer, 'refresh' | 'isOfAnotherOwner'>
  readonly store: GuardedStore
  readonly gates: Gates
  readonly machine: Machine
  readonly runtime: Runtime
  readonly memory: AccountMemory
  readonly work: Work
  readonly emit: Emit
}

export interface Work extends UnderWay {
  readonly settings: Settings
  /** The process runs between calls, so that timers of ours do. */
  readonly runsBetweenCalls: boolean
  /** Tells the platform of work that the call which began it does not wait for. */
  readonly handOver: (work: () => Promise<unknown>) => void
}

/** Tells listeners. A promise where the call that led to it has to see what comes of that: its process is frozen afterwards. */
export type Emit = <Name extends keyof TokenManagerEvents>(
  name: Name,
  event: TokenManagerEvents[Name],
) => Promise<void> | undefined
