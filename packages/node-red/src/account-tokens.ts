/**
 * An account, as the nodes of a flow use it, wherever its tokens are: in a store of ours, or at a broker.
 */
import type { TokenManager } from '@owner-sso/core'
import type { NodeStatus } from './node-red.ts'

export interface Account {
  /** The name its tokens have. */
  readonly name: string
  readonly tokens: Pick<TokenManager, 'getAccessToken' | 'invalidate'> & Partial<Pick<TokenManager, 'accepted'>>
  /** @throws what says why it can't be told */
  status(): Promise<NodeStatus>
  /** Calls `listener` when the status may be another. Returns an unsubscribe function. */
  onChange(listener: () => void): () => void
  /** Resolves once nothing is half-way. It has no limit of its own: Node-RED's is the longest that there can be. */
  settled(): Promise<void>
  /** Where a person signs in, if that is not in this editor. */
  readonly signInUrl: string | undefined
}
