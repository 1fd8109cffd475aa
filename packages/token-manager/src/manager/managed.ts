/**
 * What a token manager works with, for those parts of core that work beside it.
 */
import type { TokenManager } from './token-manager.ts'
import { whatCame } from '../support/what-came.ts'
import type { Context } from '../kernel/context.ts'

const contexts = new WeakMap<TokenManager, Context>()

/** Notes the context of a new manager; returns the manager. */
export function manages(tokens: TokenManager, context: Context): TokenManager {
  contexts.set(tokens, context)
  return tokens
}

/** @throws TypeError for what this copy of core did not make */
export function contextOf(tokens: TokenManager): Context {
  const context = contexts.get(tokens)
  if (context === undefined) throw new TypeError(`tokens must be what createTokenManager() returned${whatCame(tokens)}`)
  return context
}
