/**
 * Authorization codes: single-use, short-lived, bound to challenge, redirect_uri and instance (RFC 6749, RFC 7636).
 */
import { createHash } from 'node:crypto'
import type { Account } from './accounts.ts'
import type { Clock } from './clock.ts'
import { createExpiringMap } from './expiring-map.ts'
import { randomText, type Session } from './sessions.ts'
import { acceptedEncoding, isCodeVerifier } from './strictness.ts'
import type { EmulatorSettings } from '../options/check-options.ts'

const maxCodes = 10_000
const codeSeconds = 300

export interface AuthorizationCode {
  readonly session: Session
  readonly account: Account
  /** The account has no second factor, or its passcode was verified. */
  readonly complete: boolean
}

export function createCodes(clock: Clock) {
  const codes = createExpiringMap<AuthorizationCode>({ clock, lifetime: () => codeSeconds, max: maxCodes })
  return {
    issue(content: AuthorizationCode): string {
      const code = randomText(32)
      codes.set(code, content)
      return code
    },
    take(code: string): AuthorizationCode | undefined {
      const content = codes.get(code)
      codes.delete(code)
      return content
    },
  }
}

/** Whether a verifier belongs to a challenge: base64url of the digest's hexadecimal text (the document) or of the digest. */
export function verifierMatches(
  verifier: string,
  challenge: string,
  settings: Pick<EmulatorSettings, 'strictness' | 'service' | 'codeChallengeEncoding'>,
): boolean {
  if (!isCodeVerifier(settings, verifier)) return false
  const encoding = acceptedEncoding(settings)
  const digest = createHash('sha256').update(verifier).digest()
  const hexDigest = Buffer.from(digest.toString('hex')).toString('base64url')
  const rawDigest = digest.toString('base64url')
  return (
    (encoding !== 'raw-digest' && challenge === hexDigest) || (encoding !== 'hex-digest' && challenge === rawDigest)
  )
}
