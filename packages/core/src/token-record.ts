/**
 * What a token store keeps for one account, as the refresh protocol needs it. Its shape belongs to core; a store treats
 * it as a sealed JSON value.
 */
import type { TokenSet } from './token-set.ts'

export interface TokenRecord {
  readonly schema: 1
  readonly state: 'signed-in' | 'signed-out' | 'reauthentication-required'
  readonly tokens?: TokenSet
}
