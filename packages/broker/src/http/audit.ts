/**
 * The audit log: who got which account's token when, and who was rejected; without a token or a key.
 */
import { warnOfFault } from '@owner-sso/express/support'

/** What happened in one call. */
export interface AuditEntry {
  /** Seconds since the epoch. */
  readonly at: number
  /** `token`: an access token was handed out. `unchanged`: the caller has it already. `call`: the owner API was called with it. */
  readonly event: 'token' | 'unchanged' | 'call' | 'rejected'
  /** Where: the token endpoint, `GET /token`, or the proxy. */
  readonly by: 'refresh' | 'get' | 'proxy'
  /** Absent where the key was nobody's; `unix socket` for a caller without one, let in by the permissions of the socket. */
  readonly client?: string
  readonly account?: string
  /** An IP address, or `unix socket`. */
  readonly address: string
  /** Why it was rejected: a code of ours, of `SsoErrorCode`, or of RFC 6749. */
  readonly code?: string
}

export type Audit = (entry: Omit<AuditEntry, 'at'>) => void

/** @param listener - what it throws is a warning of the process */
export function auditTo(listener: ((entry: AuditEntry) => void) | undefined): Audit {
  if (listener === undefined) return () => undefined
  return (entry) => {
    // At once, and a promise that it returns all the same: nobody else would catch its rejection.
    new Promise<void>((resolve) => resolve(listener({ at: Math.floor(Date.now() / 1000), ...entry }))).catch(
      (error: unknown) => warnOfFault('audit', error),
    )
  }
}
