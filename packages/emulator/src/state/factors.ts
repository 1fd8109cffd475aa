/**
 * Second factors: TOTP passcodes (RFC 6238) with one step of drift, each accepted once (section 5.2), and backup codes.
 */
import { randomUUID } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import type { FactorOptions } from '../options/account-options.ts'

/** Seconds of one TOTP step. */
export const stepSeconds = 30

export interface Factor {
  readonly id: string
  readonly name: string
  /** When it was activated, as the factor list shows it. */
  readonly activatedAt: string
  /** The passcode of this moment, in seconds since the epoch. */
  passcode(now: number): string
  check(passcode: string, now: number): 'valid' | 'wrong' | 'replayed'
  /** Passcodes that were used may be used again. */
  forget(): void
}

/** Throws a TypeError if the secret is not base32. */
export function createFactor({ id = randomUUID(), name, totpSecret }: FactorOptions): Factor {
  // Six digits of SHA-1, and one step of drift, are what TOTP has where nothing else is said.
  const totp = new TOTP({ secret: Secret.fromBase32(totpSecret), period: stepSeconds })
  const usedSteps = new Set<number>()
  return {
    id,
    name,
    activatedAt: '2024-05-01T09:30:00.000Z',
    passcode: (now) => totp.generate({ timestamp: now * 1000 }),
    check(passcode, now) {
      // The library compares bytes, and throws where six characters are more of them.
      if (!/^\d{6}$/u.test(passcode)) return 'wrong'
      const delta = totp.validate({ token: passcode, timestamp: now * 1000 })
      if (delta === null) return 'wrong'
      const step = Math.floor(now / stepSeconds) + delta
      if (usedSteps.has(step)) return 'replayed'
      usedSteps.add(step)
      return 'valid'
    },
    forget: () => usedSteps.clear(),
  }
}
