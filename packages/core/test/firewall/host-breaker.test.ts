import { describe, expect, it } from '@jest/globals'
import { FirewallChallengeError } from '../../src/index.ts'
import { createHostBreaker, type HostBreaker } from '../../src/firewall/host-breaker.ts'

const start = Date.UTC(2026, 10, 21, 12) / 1000
const wait = (retryAfter: string | undefined): number =>
  breakerAt(() => start).open('auth.example.com', retryAfter, 'login-page', 403).nextAttemptAt - start

/** Both clocks show the same, in seconds. */
function breakerAt(wall: () => number, monotonic = wall): HostBreaker {
  return createHostBreaker(900, { wallClock: () => wall() * 1000, monotonicClock: () => monotonic() * 1000 })
}

describe('the firewall breaker', () => {
  it.each<[string | undefined, number]>([
    [undefined, 900],
    ['', 900],
    ['120', 120],
    [' 120 ', 120],
    ['0', 60],
    ['1', 60],
    ['315360000', 86_400],
    ['999999999999999', 86_400],
    ['Sat, 21 Nov 2026 13:00:00 GMT', 3600],
    ['Saturday, 21-Nov-26 13:00:00 GMT', 3600],
    ['Sat, 21 Nov 2026 11:00:00 GMT', 60],
    ['Thu, 21 Nov 2036 12:00:00 GMT', 86_400],
    ['Wed, 99 Foo 2026 25:61:61 GMT', 900],
    ['-5', 900],
    ['1.5', 900],
    ['1e3', 900],
    ['soon', 900],
    ['2026', 2026],
    ['tomorrow 2027', 900],
    ['99999999999999999999', 900],
  ])('waits as long as Retry-After %j says, between a minute and a day: %i s (I3)', (retryAfter, seconds) => {
    expect(wait(retryAfter)).toBe(seconds)
  })

  it('refuses until that moment, for that host alone, and not after it', () => {
    let now = start
    const breaker = breakerAt(() => now)
    breaker.open('auth.example.com', undefined, 'login-page', 403)
    now = start + 899
    expect(() => breaker.check('auth.example.com', 'refresh')).toThrow(FirewallChallengeError)
    expect(() => breaker.check('auth.example.com:8443', 'refresh')).not.toThrow()
    now = start + 900
    expect(() => breaker.check('auth.example.com', 'refresh')).not.toThrow()
  })

  it('keeps its word where another request, which was under way, brings a shorter wait', () => {
    let now = start
    const breaker = breakerAt(() => now)
    const { nextAttemptAt } = breaker.open('auth.example.com', '3600', 'login-page', 403)
    expect(breaker.open('auth.example.com', '60', 'login-page', 403)).toMatchObject({ nextAttemptAt })
    now = start + 3599
    expect(() => breaker.check('auth.example.com', 'refresh')).toThrow(FirewallChallengeError)
  })

  it('goes by the faster clock: one that is put back makes no block longer, nor does a machine that sleeps', () => {
    let [wall, monotonic] = [start, 0]
    const breaker = breakerAt(
      () => wall,
      () => monotonic,
    )
    breaker.open('put-back.example.com', undefined, 'login-page', 403)
    ;[wall, monotonic] = [start - 86_400, 899]
    const told = { nextAttemptAt: start - 86_400 + 1 }
    expect(() => breaker.check('put-back.example.com', 'refresh')).toThrow(expect.objectContaining(told))
    monotonic = 900
    expect(() => breaker.check('put-back.example.com', 'refresh')).not.toThrow()
    breaker.open('asleep.example.com', undefined, 'login-page', 403)
    wall += 900
    expect(() => breaker.check('asleep.example.com', 'refresh')).not.toThrow()
  })

  it('keeps its word where the wall clock was put back between two pages', () => {
    let [wall, monotonic] = [start, 0]
    const breaker = breakerAt(
      () => wall,
      () => monotonic,
    )
    breaker.open('auth.example.com', '3600', 'login-page', 403)
    ;[wall, monotonic] = [start - 86_400, 600]
    const { nextAttemptAt } = breaker.open('auth.example.com', '60', 'login-page', 403)
    expect(nextAttemptAt).toBe(wall + 3000)
  })
})

describe('the breaker of a process', () => {
  const failureOf = (call: () => void): unknown => {
    try {
      return call()
    } catch (error) {
      return error
    }
  }
  const epoch = Date.UTC(2026, 0, 1) / 1000
  const clock = { now: 0 }
  const clocks = { wallClock: () => epoch * 1000 + clock.now, monotonicClock: () => clock.now }

  it.each<[string | undefined, number]>([
    [undefined, 900],
    ['', 900],
    ['soon', 900],
    ['120', 120],
    [' 120 ', 120],
    ['59', 60],
    ['60', 60],
    ['61', 61],
    ['86400', 86_400],
    ['86401', 86_400],
    ['9'.repeat(15), 86_400],
    ['9'.repeat(16), 900],
    ['120.5', 900],
    ['-120', 900],
    ['x 120', 900],
    ['Thu, 01 Jan 2026 00:10:00 GMT', 600],
    ['Thursday, 01-Jan-26 00:10:00 GMT', 600],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 60],
    ['Thu, 01 Jan 2026 00:10:00 GMT+1', 900],
    ['on Thu, 01 Jan 2026 00:10:00 GMT', 900],
    ['2026-01-01T00:10:00Z', 900],
  ])('waits as Retry-After %j says: %i s', (header, seconds) => {
    clock.now = 0
    const breaker = createHostBreaker(900, clocks)
    const nextAttemptAt = epoch + seconds
    expect(breaker.open('a:1', header, 'login-page', 403)).toMatchObject({
      nextAttemptAt,
      step: 'login-page',
      status: 403,
      requestSent: true,
    })
    const check = (): void => breaker.check('a:1', 'refresh')
    clock.now = seconds * 1000 - 1
    expect(() => breaker.check('b:1', 'refresh')).not.toThrow()
    expect(failureOf(check)).toMatchObject({ nextAttemptAt, step: 'refresh', requestSent: false })
    clock.now = seconds * 1000
    expect(check).not.toThrow()
    clock.now = 0
    expect(check).not.toThrow()
  })

  it('keeps the longer of two waits', () => {
    clock.now = 0
    const breaker = createHostBreaker(900, clocks)
    breaker.open('a', '600', 'login-page', 403)
    clock.now = 100_500
    expect(breaker.open('a', '120', 'login-page', 403).nextAttemptAt).toBe(epoch + 600)
    expect(breaker.open('a', '500', 'login-page', 403).nextAttemptAt).toBe(epoch + 601)
  })
})
