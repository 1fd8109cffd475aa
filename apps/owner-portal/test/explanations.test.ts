/** Every error has words that say what to do. */
import { describe, expect, it } from '@jest/globals'
import { explain } from '../src/explanations.ts'

const codes = [
  'ERR_SSO_INVALID_CREDENTIALS',
  'ERR_SSO_ACCOUNT_LOCKED',
  'ERR_SSO_CAPTCHA_REQUIRED',
  'ERR_SSO_PASSCODE_REQUIRED',
  'ERR_SSO_PASSCODE_REJECTED',
  'ERR_SSO_PENDING_LOGIN_EXPIRED',
  'ERR_SSO_REGION_NOT_ALLOWED',
  'ERR_SSO_STATE_MISMATCH',
  'ERR_SSO_ISSUER_MISMATCH',
  'ERR_SSO_FIREWALL_CHALLENGE',
  'ERR_SSO_REAUTHENTICATION_REQUIRED',
  'ERR_SSO_TOKEN_REJECTED',
  'ERR_SSO_UNEXPECTED_RESPONSE',
  'ERR_SSO_TIMEOUT',
  'ERR_SSO_UNREACHABLE',
  'ERR_SSO_SIGNED_OUT',
  'ERR_SSO_SESSION_EXISTS',
  'ERR_SSO_REFRESH_IN_DOUBT',
  'ERR_SSO_STORE',
]

describe('explain', () => {
  it.each(codes)('has a title and a next step for %s', (code) => {
    const { title, text } = explain({ code })
    expect(title).not.toBe('Something went wrong')
    expect(text).toMatch(/\w+.*\.$/u)
    expect(`${title} ${text}`).not.toMatch(/ERR_|undefined/u)
  })

  it.each(['invalid', 'replayed', 'unknown-factor', 'too-many-attempts'])(
    'says why a passcode was rejected: %s',
    (reason) => {
      const titles = ['invalid', 'replayed', 'unknown-factor', 'too-many-attempts'].map(
        (each) => explain({ code: 'ERR_SSO_PASSCODE_REJECTED', reason: each }).title,
      )
      expect(new Set(titles).size).toBe(4)
      expect(titles).toContain(explain({ code: 'ERR_SSO_PASSCODE_REJECTED', reason }).title)
    },
  )

  it('says when to try again, and how many tries are left', () => {
    expect(explain({ code: 'ERR_SSO_FIREWALL_CHALLENGE', retryAfter: 840 }).text).toMatch(/Try again in 14 minutes\.$/u)
    expect(explain({ code: 'ERR_SSO_PASSCODE_REJECTED', reason: 'invalid', triesLeft: 3 }).text).toMatch(
      /3 tries are left\.$/u,
    )
    expect(explain({ code: 'ERR_SSO_PASSCODE_REJECTED', reason: 'invalid', triesLeft: 1 }).text).toMatch(
      /One try is left\.$/u,
    )
  })

  it.each(['ERR_NEW', '', '__proto__', 'constructor', 'toString'])('has words for the unknown code %p', (code) => {
    expect(explain({ code, reason: '__proto__' })).toEqual({
      title: 'Something went wrong',
      text: 'Try again in a minute.',
    })
  })
})
