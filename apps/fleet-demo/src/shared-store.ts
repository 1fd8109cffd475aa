/**
 * The store that all processes share, as one of them has it.
 */
import type { TokenStore } from '@owner-sso/core'

export interface SharedStore {
  readonly store: TokenStore
  readonly close: () => void
}
