/**
 * Passcodes made from a secret (RFC 6238), for sign-ins that nobody attends.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { Secret, TOTP, URI } from 'otpauth'
import { usageError } from '../command-line/command-error.ts'

/** Milliseconds before the end of a time step of 30 seconds in which a passcode might arrive too late. */
const margin = 3000

export interface PasscodeGenerator {
  /** The passcode of the current time step; waits for the next one where this one was given before, or is about to end. */
  next(signal: AbortSignal): Promise<string>
}

/**
 * @param text - base32, or an `otpauth://` address
 * @param now - milliseconds since the epoch
 * @throws CommandError for text that is neither
 */
export function passcodeGenerator(text: string, now: () => number = () => Date.now()): PasscodeGenerator {
  const totp = totpOf(text)
  const step = totp.period * 1000
  const tooLate = Math.min(margin, step / 10)
  let used = Number.NEGATIVE_INFINITY
  return {
    async next(signal) {
      for (;;) {
        const time = now()
        const current = Math.floor(time / step)
        const left = (current + 1) * step - time
        if (current > used && left > tooLate) {
          used = current
          return totp.generate({ timestamp: time })
        }
        await pause(left, undefined, { signal })
      }
    },
  }
}

function totpOf(text: string): TOTP {
  const trimmed = text.trim()
  try {
    if (!trimmed.startsWith('otpauth:'))
      return new TOTP({ secret: Secret.fromBase32(trimmed.replaceAll(/[\s-]/gu, '')) })
    const parsed = URI.parse(trimmed)
    if (parsed instanceof TOTP) return parsed
  } catch {
    // Its message could quote the secret.
  }
  throw usageError(
    'The TOTP secret can’t be understood.',
    'It is the base32 text that the service showed next to the QR code, or the otpauth:// address in the code.',
  )
}
