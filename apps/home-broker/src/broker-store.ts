/**
 * The store of the broker, as the process has it.
 */
import type { TokenStore } from '@owner-sso/core'

/** An open store. */
export interface BrokerStore {
  readonly store: TokenStore
  readonly close: () => Promise<void>
}

/** With what its records are sealed, if at all. */
export interface Sealing {
  readonly encryptionKey?: readonly Uint8Array[]
}

/** Milliseconds for a connection, and for an answer of a database. */
export const patience = 2000
