/**
 * Passcodes made from a secret (RFC 6238), for sign-ins that nobody attends.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { typedCode, unquoted } from '@owner-sso/core'
import { Secret, TOTP } from 'otpauth'
import { usageError } from '../failure/command-error.ts'

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
  try {
    const given = unquoted(text.replaceAll(/\p{Cf}/gu, '').trim())
    return /^otpauth:/iu.test(given) ? totpOfAddress(given) : new TOTP({ secret: secretOf(given) })
  } catch {
    // Its message could quote the secret.
  }
  throw usageError(
    'The TOTP secret can’t be understood.',
    'It is the base32 text that the service showed next to the QR code, or the otpauth:// address in the code.',
  )
}

/** An address as programs write it: letters of either case, no label, names without a value, `+` for a space. @throws Error */
function totpOfAddress(text: string): TOTP {
  const { hostname, searchParams } = new URL(text.replaceAll('#', '%23').replaceAll('&amp;', '&'))
  const fields = new Map([...searchParams].map(([name, value]) => [name.toLowerCase(), value.trim()]))
  const [secret = '', digits, period] = ['secret', 'digits', 'period'].map((name) => fields.get(name))
  if (hostname.toLowerCase() !== 'totp') throw new Error('This is no time-based passcode.')
  const algorithm = (fields.get('algorithm') || 'SHA1').toUpperCase().replaceAll(/^HMAC|[^A-Z\d]/gu, '')
  return new TOTP({
    secret: secretOf(secret),
    // otpauth throws for one that it does not know.
    algorithm,
    digits: wholeNumber(digits || '6'),
    period: wholeNumber(period || '30'),
  })
}

/** Base32, in groups or not, however it ends. @throws Error */
function secretOf(text: string): Secret {
  const base32 = unquoted(typedCode(text)).replace(/=+$/u, '')
  if (!/^[A-Z2-7]{2,}$/iu.test(base32)) throw new Error('This is no base32.')
  return Secret.fromBase32(base32)
}

function wholeNumber(text: string): number {
  if (/^[1-9]\d?\d?$/u.test(text)) return Number(text)
  throw new Error('This is no whole number.')
}
