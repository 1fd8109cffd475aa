/** Passcodes out of a secret: those of RFC 6238, each once, none that might arrive too late. */
import { describe, expect, it } from '@jest/globals'
import { passcodeGenerator } from '../src/sign-in/totp.ts'

// RFC 6238, appendix B: the SHA-1 secret, with six digits.
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
const never = new AbortController().signal
const stopped = AbortSignal.abort()

/** Whether one is given at once, at so many milliseconds since the epoch. */
async function isGiven(at: number, text = secret): Promise<boolean> {
  return passcodeGenerator(text, () => at)
    .next(stopped)
    .then(
      () => true,
      () => false,
    )
}

describe('a passcode generator', () => {
  it.each([
    [30, '287082'],
    [1_111_111_080, '081804'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
  ])('makes the passcode of RFC 6238 at %d s, leading zeros included', async (seconds, passcode) => {
    expect(await passcodeGenerator(secret, () => seconds * 1000).next(never)).toBe(passcode)
  })

  it.each([
    ` gezd gnbv-gy3tqojqgezdgnbvgy3tqojq\n`,
    `\uFEFF${secret}\r\n`,
    `"${secret}"`,
    `GEZD\u2011GNBV\u2013GY3T\u00A0QOJQ\u200BGEZD\u00ADGNBV\u2212GY3TQOJQ====`,
    'ＧＥＺＤＧＮＢＶＧＹ３ＴＱＯＪＱＧＥＺＤＧＮＢＶＧＹ３ＴＱＯＪＱ',
    `otpauth://totp/x?secret=${secret}`,
    `'OTPAUTH://TOTP/X?SECRET=${secret.toLowerCase()}'`,
    `\u200Botpauth://totp/Ex%20ample:ann@example.com?secret=${secret}&issuer=Ex#1&digits=&period=&algorithm=`,
    `otpauth://totp?secret=GEZD+GNBV+GY3T+QOJQ+GEZD+GNBV+GY3T+QOJQ%3D&digits=6`,
    `otpauth://totp/?period=30&amp;algorithm=HmacSHA1&amp;secret=${secret}`,
    `otpauth://totp/x?secret=${secret}&algorithm=hmac-sha-1`,
    `otpauth://totp/100%?secret=${secret}&algorithm=SHA_1`,
  ])('takes the secret as %j', async (text) =>
    expect(await passcodeGenerator(text, () => 30_000).next(never)).toBe('287082'),
  )

  it.each([
    [30, 56_999, 57_000],
    [60, 56_999, 57_000],
    [10, 8999, 9000],
  ])('of %d s gives none in the last 3 s, or the last tenth', async (period, early, late) => {
    const address = `otpauth://totp/x?secret=${secret}&period=${period}`
    expect([await isGiven(early, address), await isGiven(late, address)]).toEqual([true, false])
  })

  it('gives no passcode twice: it waits for the next, unless it is told to stop', async () => {
    const now = { time: 30_000 }
    const generator = passcodeGenerator(secret, () => now.time)
    const first = await generator.next(never)
    await expect(generator.next(stopped)).rejects.toThrow('aborted')
    now.time += 30_000
    expect(await generator.next(never)).not.toBe(first)
  })

  it.each([
    ['otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&algorithm=HmacSHA256', '247374'],
    ['otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&digits=8', '94287082'],
  ])('goes by the parameters of an otpauth address: %s', async (text, passcode) => {
    expect(await passcodeGenerator(text, () => 30_000).next(never)).toBe(passcode)
  })

  it.each([
    'no base32 at all!',
    ' - ',
    'otpauth://hotp/x?secret=GEZDGNBV&counter=1',
    'otpauth://nonsense',
    'otpauth://totp/x?secret=',
    'otpauth://totp/x?secret=GEZDGNBV&digits=six',
    'otpauth://totp/x?secret=GEZDGNBV&period=0',
    'otpauth://totp/x?secret=GEZDGNBV&algorithm=MD5',
    'otpauth-migration://offline?data=GEZDGNBV',
  ])('rejects %j without quoting it', (text) =>
    expect(() => passcodeGenerator(text)).toThrow('The TOTP secret can’t be understood.'),
  )
})
