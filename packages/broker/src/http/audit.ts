/**
 * The audit log: who got which account's token when, and who was rejected; without a token or a key.
 */
import { checkOption, kinds } from '@owner-sso/core'
import { warnOfFault } from '@owner-sso/express/support'
import { rejections } from './rejection.ts'

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

/** Milliseconds until people are told the same again. */
const pause = 600_000

/**
 * For the option `audit` of a broker: tells people of rejected programs in sentences. A key that was mistyped or has expired shows
 * nowhere else. Strangers can provoke it, so each sentence is told once in a while, and none has a word of theirs.
 *
 * @param tell - gets the sentence, and where the call came from: an IP address, or `unix socket`
 */
export function rejectionNotes(tell: (what: string, address: string) => void): (entry: AuditEntry) => void {
  checkOption('tell', kinds.function, tell)
  /** When each sentence was told. There are no more of them than programs and codes. */
  const told = new Map<string, number>()
  return (entry) => {
    const what = entry.event === 'rejected' ? sentenceOf(entry) : undefined
    if (what === undefined || Date.now() - (told.get(what) ?? -Infinity) < pause) return
    told.set(what, Date.now())
    tell(what, entry.address)
  }
}

function sentenceOf({ client, code = '' }: AuditEntry): string | undefined {
  if (client !== undefined) {
    const [, [, sentence] = []] = Object.entries(rejections).find(([each]) => each === code) ?? []
    return sentence && `${client} was rejected: ${sentence}`
  }
  if (code !== 'invalid_grant' && code !== 'ERR_BROKER_UNKNOWN_KEY') return undefined
  return 'A program was rejected: it sent no key, or one that is mistyped, expired, revoked or replaced. See owner-sso broker list.'
}
