/**
 * The store that all instances share, as an instance has it.
 */
import type { TokenStore } from '@owner-sso/core'
import type { GatewaySettings } from './settings.ts'

export type StoreSettings = Pick<GatewaySettings, 'storeUrl' | 'encryptionKeys'>

export interface SharedStore {
  readonly store: TokenStore
  /** What about the server can cost token sets, in sentences. @throws StoreError where it can't be asked */
  readonly problems: () => Promise<readonly string[]>
  readonly close: () => void
}

/** Milliseconds between two attempts to connect. */
export const longestPause = 2000

/** Told once an outage, with a system's code or the first word of the server's answer (`WRONGPASS`, `28P01`). */
export type OnDown = (code: string) => void

/** Never the message itself: it may have the address in it. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error ? String(error.code) : (/^[A-Z]{3,}(?= )/u.exec(error.message)?.[0] ?? error.name)
}
