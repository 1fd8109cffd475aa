/**
 * What a simulated world is made of, and how much may go wrong in it.
 */
import type { Rules } from '../../../src/refresh-protocol/rules.ts'
import type { TokenStore } from '../../../src/token-store.ts'
import type { Rotation } from './service.ts'

export const account = 'owner@example.com'

export interface Scenario {
  readonly processes: number
  readonly rotation: Rotation
  /** At the start: `ageing`, with one hour of life left, or `expired`. */
  readonly token: 'ageing' | 'expired'
  /** Whether a process can tell that another one is dead or running. */
  readonly sameHost: boolean
  /** `getAccessToken` calls of each process. */
  readonly calls: number
  /** A process ends in the midst of something, and another one starts in its place. */
  readonly crashes: number
  /** Time jumps in the midst of something: whoever is at it was stopped meanwhile. */
  readonly pauses: number
  readonly lostReplies: number
  /** A store operation fails; a write may have been applied before. */
  readonly storeFailures: number
  readonly signIns: number
  readonly signOuts: number
  readonly rules: Rules
  /** The store as a mutant sees it. */
  readonly storeOf?: (store: TokenStore) => TokenStore
}

/** Two processes, an expired token, and nothing goes wrong. */
export const calm: Omit<Scenario, 'rules'> = {
  processes: 2,
  rotation: 'strict',
  token: 'expired',
  sameHost: false,
  calls: 1,
  crashes: 0,
  pauses: 0,
  lostReplies: 0,
  storeFailures: 0,
  signIns: 0,
  signOuts: 0,
}
