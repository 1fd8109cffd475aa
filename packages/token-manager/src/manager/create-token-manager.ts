/**
 * `createTokenManager`: the token manager over the system's own clocks, timers and randomness.
 */
import { manageTokens } from './manager.ts'
import { machine } from '../kernel/machine.ts'
import { systemRuntime } from '../support/system-runtime.ts'
import type { TokenManager, TokenManagerOptions } from './token-manager.ts'

/**
 * One manager serves a whole application; any number of processes may share its store.
 *
 * @throws TypeError naming the option that is wrong
 */
export function createTokenManager(options: TokenManagerOptions): TokenManager {
  return manageTokens(options, systemRuntime, machine)
}
