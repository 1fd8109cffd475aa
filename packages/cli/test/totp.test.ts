import { describe, expect, it } from '@jest/globals'
import { passcodeGenerator } from '../src/totp.ts'

// RFC 6238, appendix B: the SHA-1 secret, with six digits.
const rfcSecret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
const { signal } = new AbortController()

describe('a passcode generator', () => {
  it.each([
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
  ])('makes the passcode of RFC 6238 at %d s, leading zeros included', async (seconds, passcode) => {
    const start = Date.now()
    // 59 s is one second before the end of its time step: it would wait. So each is taken at its step's beginning.
    const generator = passcodeGenerator(rfcSecret, () => Math.floor(seconds / 30) * 30_000 + (Date.now() - start))
    expect(await generator.next(signal)).toBe(passcode)
  })

  it('waits for the next time step where this one is about to end', async () => {
    const start = Date.now()
    const generator = passcodeGenerator(rfcSecret, () => 59_000 + (Date.now() - start))
    expect(await generator.next(signal)).toBe('359152')
    expect(Date.now() - start).toBeGreaterThanOrEqual(990)
  })

  it('gives no time step’s passcode twice', async () => {
    const start = Date.now()
    const generator = passcodeGenerator(`otpauth://totp/x?secret=${rfcSecret}&period=2`, () => Date.now() - start)
    const passcodes = [await generator.next(signal), await generator.next(signal)]
    expect(new Set(passcodes).size).toBe(2)
    expect(Date.now() - start).toBeGreaterThanOrEqual(1990)
  })

  it('stops waiting when it is told to', async () => {
    const controller = new AbortController()
    const waiting = passcodeGenerator(rfcSecret, () => 59_000).next(controller.signal)
    controller.abort()
    await expect(waiting).rejects.toThrow('aborted')
  })

  it.each(['no base32 at all!', 'otpauth://hotp/x?secret=GEZDGNBV&counter=1', 'otpauth://nonsense'])(
    'refuses %j without quoting it',
    (text) => {
      expect(() => passcodeGenerator(text)).toThrow('The TOTP secret can’t be understood.')
    },
  )
})
