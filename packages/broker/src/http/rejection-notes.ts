/**
 * What a broker's operator is told of programs that were rejected: a key that was mistyped or has expired shows nowhere else.
 * Strangers can provoke it, so each sentence is told once in a while, and none has a word of theirs.
 */
import { checkOption, kinds } from '@owner-sso/core'
import type { AuditEntry } from './audit.ts'
import { type BrokerRejectionCode, rejections } from './rejection.ts'

/** Milliseconds until the same is told again. */
const pause = 600_000

const noKey =
  'A program was rejected: it sent no key, or one that is mistyped, expired, revoked or replaced. See owner-sso broker list.'

/**
 * For the option `audit` of a broker: tells people of rejected programs in sentences.
 *
 * @param tell - gets the sentence, and where the call came from: an IP address, or `unix socket`
 */
export function rejectionNotes(tell: (what: string, address: string) => void): (entry: AuditEntry) => void {
  checkOption('tell', kinds.function, tell)
  /** When each sentence was told. There are no more of them than programs and codes. */
  const told = new Map<string, number>()
  return (entry) => {
    const what = sentenceOf(entry)
    if (what === undefined || Date.now() - (told.get(what) ?? -Infinity) < pause) return
    told.set(what, Date.now())
    tell(what, entry.address)
  }
}

function sentenceOf({ event, client, code = '' }: AuditEntry): string | undefined {
  if (event !== 'rejected') return undefined
  if (client === undefined) return code === 'invalid_grant' || code === 'ERR_BROKER_UNKNOWN_KEY' ? noKey : undefined
  return isRejection(code) ? `${client} was rejected: ${rejections[code][1]}` : undefined
}

function isRejection(code: string): code is BrokerRejectionCode {
  return Object.hasOwn(rejections, code)
}
