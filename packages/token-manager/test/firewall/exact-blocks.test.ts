/** A block by the firewall, each limit at it and one beyond it, each row of a rule and each fact that is told. */
import { describe, expect, it } from '@jest/globals'
import { createSharedFirewall, type SharedFirewall } from '../../src/firewall/shared-firewall.ts'
import { firewallRecordName } from '../../src/store/record-names.ts'
import { guardStore } from '../../src/store/guarded-store.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'
import * as core from '../../src/index.ts'
import { type AnsweredPage, isFirewallChallenge } from '../../../core/src/firewall/challenge-page.ts'
import { createHostBreaker } from '../../../core/src/firewall/host-breaker.ts'
import { signInFirewall } from '../../../core/src/firewall/sign-in-firewall.ts'
import { authUrl, slowClock, start, slowly } from '../refresh-protocol/by-hand.ts'

describe('the breaker of a fleet', () => {
  const name = firewallRecordName(authUrl)
  const nextAttemptOf = async (breaker: SharedFirewall): Promise<unknown> =>
    Promise.resolve(breaker.enter(authUrl)).then(
      (probe) => (probe === undefined ? 'free' : 'probe'),
      (error: unknown) => {
        expect(error).toMatchObject({ step: 'token-manager', requestSent: false })
        return Reflect.get(Object(error), 'nextAttemptAt')
      },
    )
  const challenge = (seconds: number, requestSent = true): never =>
    ({ nextAttemptAt: start + seconds, requestSent }) as never

  function world() {
    const clock = slowClock()
    const memory = mapStore()
    const slow = slowly(memory)
    let isDown = false
    const guarded = guardStore(
      { ...slow, swap: (...call) => (isDown ? Promise.reject(new Error('down')) : slow.swap(...call)) },
      undefined,
    )
    return {
      clock,
      memory,
      breaker: () => createSharedFirewall(guarded, clock.runtime),
      record: async () => (await memory.read(name))?.record,
      fail: (down: boolean) => void (isDown = down),
    }
  }
  const block = (challenges: number, noted: number, wait: number): object => ({
    schema: 1,
    state: 'firewall',
    challenges,
    noted_at: start + noted,
    wait,
  })

  it('blocks for what the service asked for, to the millisecond, and lets one process probe for a minute', async () => {
    const { clock, breaker, record, memory } = world()
    const [one, other] = [breaker(), breaker()]
    expect([one.isBlocked(authUrl), await nextAttemptOf(one), await record()]).toEqual([false, 'free', undefined])
    expect(await one.challenged(authUrl, challenge(900))).toBe(start + 900)
    expect(await record()).toEqual(block(1, 0, 900))
    await other.sync(authUrl)
    clock.now = 899_999
    for (const each of [one, other]) {
      expect([each.isBlocked(authUrl), await nextAttemptOf(each)]).toEqual([true, start + 900])
    }
    expect((await memory.read(name))?.version).toBe(1)
    clock.now = 900_000
    expect([one.isBlocked(authUrl), other.isBlocked(authUrl)]).toEqual([false, false])
    const probe = await one.enter(authUrl)
    expect(await record()).toEqual(block(1, 900, 60))
    // The other one meets the claim, and waits for its end.
    expect(await nextAttemptOf(other)).toBe(start + 960)
    clock.now = 905_000
    await probe?.giveBack()
    expect(await record()).toEqual(block(1, 905, 0))
    await probe?.giveBack()
    expect((await memory.read(name))?.version).toBe(3)
    await other.sync(authUrl)
    expect(other.isBlocked(authUrl)).toBe(false)
    expect(await nextAttemptOf(other)).toBe('probe')
    await other.passed(authUrl)
    expect(await record()).toEqual(block(0, 905, 0))
    expect(await nextAttemptOf(other)).toBe('free')
    await other.passed(authUrl)
    expect((await memory.read(name))?.version).toBe(5)
  })

  it.each([
    [0, [800, 1440, 2880, 5760, 11_520, 11_520]],
    [0.5, [900, 1800, 3600, 7200, 14_400, 14_400]],
  ])('waits twice as long after each further challenge, up to four hours (by chance %d)', async (random, expected) => {
    const { clock, breaker } = world()
    clock.random = random
    const one = breaker()
    const waits: number[] = []
    for (let count = 0; count < 6; count += 1) {
      const now = clock.now / 1000
      const next = await one.challenged(authUrl, challenge(now + 900))
      waits.push(next - start - now)
      clock.now += (next - start - now) * 1000
      expect(await nextAttemptOf(one)).toBe('probe')
    }
    expect(waits).toEqual([Math.max(900, expected[0] ?? 0), ...expected.slice(1)])
    expect((await one.challenged(authUrl, challenge(clock.now / 1000 + 20_000))) - start - clock.now / 1000).toBe(
      Math.max(20_000, 20_000 * (0.8 + 0.4 * random)),
    )
  })

  it('counts what was sent before the block, or was not sent at all, as one with it', async () => {
    const { clock, breaker, record } = world()
    const one = breaker()
    await one.challenged(authUrl, challenge(100, false))
    expect(await record()).toEqual(block(1, 0, 100))
    clock.now = 40_000
    // 60 s are left of the block; asked for less, it stays as it was.
    expect(await one.challenged(authUrl, challenge(50))).toBe(start + 100)
    expect(await record()).toEqual(block(1, 40, 60))
    clock.now = 99_999
    await one.passed(authUrl)
    expect(await record()).toEqual(block(1, 40, 60))
    clock.now = 100_000
    expect(await one.challenged(authUrl, challenge(0))).toBe(start + 102)
    expect(await record()).toEqual(block(2, 100, 2))
    clock.now = 102_000
    await one.passed(authUrl)
    expect(await record()).toEqual(block(0, 102, 0))
  })

  it('is remembered by the process itself where the store is down', async () => {
    const { clock, breaker, fail, record } = world()
    const one = breaker()
    fail(true)
    expect(await one.challenged(authUrl, challenge(30.5))).toBe(start + 31)
    expect([one.isBlocked(authUrl), await nextAttemptOf(one)]).toEqual([true, start + 31])
    clock.now = 31_000
    expect(one.isBlocked(authUrl)).toBe(false)
    await expect(one.enter(authUrl)).rejects.toMatchObject({ code: 'ERR_SSO_STORE' })
    await one.passed(authUrl)
    fail(false)
    expect(await nextAttemptOf(one)).toBe('probe')
    expect(await record()).toEqual(block(1, 31, 60))
  })

  it('is told in whole seconds, never too early', async () => {
    const { clock, breaker, memory, record } = world()
    const one = breaker()
    await one.challenged(authUrl, challenge(100))
    clock.now = 39_970
    await one.challenged(authUrl, challenge(50))
    expect(await record()).toEqual(block(1, 39, 61))
    // What says nothing of challenges blocks nobody.
    memory.put(name, { version: 9, record: block(0, 39, 600) as never })
    await one.sync(authUrl)
    expect([one.isBlocked(authUrl), await nextAttemptOf(one)]).toEqual([false, 'free'])
    memory.clear()
    const other = breaker()
    await other.sync(authUrl)
    expect([other.isBlocked(authUrl), await nextAttemptOf(other)]).toEqual([false, 'free'])
  })

  it('by a clock of the future is noted again by ours, where that is ahead by more than four hours', async () => {
    for (const [ahead, isNoted] of [
      [14_400, false],
      [14_401, true],
    ] as const) {
      const { clock, breaker, memory, record } = world()
      memory.put(name, { version: 1, record: block(3, ahead, 600) as never })
      const one = breaker()
      await one.sync(authUrl)
      clock.now = 500
      expect(await nextAttemptOf(one)).toBe(start + 600)
      expect(await record()).toEqual(isNoted ? block(3, 0, 600) : block(3, ahead, 600))
    }
  })

  it('is as old as the clock of who wrote it says, but no older than the look before', async () => {
    const { clock, breaker, memory } = world()
    memory.put(name, { version: 1, record: block(1, -100, 600) as never })
    const [early, late] = [breaker(), breaker()]
    await early.sync(authUrl)
    expect(await nextAttemptOf(early)).toBe(start + 500)
    clock.now = 10_000
    await early.sync(authUrl)
    clock.now = 20_000
    memory.put(name, { version: 2, record: block(1, -3600, 600) as never })
    await Promise.all([early.sync(authUrl), late.sync(authUrl)])
    // Written within the last ten seconds, whatever its clock says.
    expect(await nextAttemptOf(early)).toBe(start + 610)
    expect(late.isBlocked(authUrl)).toBe(false)
    // A store that went back says nothing of that kind.
    memory.put(name, { version: 1, record: block(1, -100, 600) as never })
    await early.sync(authUrl)
    expect(await nextAttemptOf(early)).toBe(start + 500)
    // Seen before, it ages by our own clocks, whichever way the wall clock jumps.
    clock.now = 30_000
    clock.wallOnly = -80_000
    await early.sync(authUrl)
    expect(await nextAttemptOf(early)).toBe(start - 50 + 470)
    clock.wallOnly = 0
    // Of the same version, and yet another write.
    memory.put(name, { version: 1, writeId: 'another', record: block(1, -300, 600) as never })
    await early.sync(authUrl)
    expect(await nextAttemptOf(early)).toBe(start + 300)
    memory.clear()
    await early.sync(authUrl)
    expect(await nextAttemptOf(early)).toBe('free')
  })

  it('gives up after three probes that others claimed before', async () => {
    const clock = slowClock()
    let swaps = 0
    const record = block(1, -600, 0)
    const store = guardStore(
      {
        read: async () => ({ version: 1 + swaps, writeId: `w${swaps}`, record: record as never }),
        swap: async () => ((swaps += 1), { conflict: true }),
      },
      undefined,
    )
    const one = createSharedFirewall(store, clock.runtime)
    await one.sync(authUrl)
    expect([await nextAttemptOf(one), swaps]).toEqual([start + 60, 3])
    clock.now = 1
    expect([await nextAttemptOf(one), swaps]).toEqual([start + 61, 6])
  })
})

describe('the firewall’s page', () => {
  const page = (more: Partial<AnsweredPage>): AnsweredPage => ({
    title: '',
    text: '',
    scripts: ['run()'],
    forms: [],
    looseInputs: [],
    ...more,
  })
  const input = (name: string, type = 'text') => ({ name, type })

  it.each<[number, AnsweredPage | 'beyond limits' | undefined, boolean]>([
    [429, undefined, true],
    [428, undefined, false],
    [200, 'beyond limits', false],
    [200, page({}), true],
    [200, page({ text: 'x'.repeat(60) }), true],
    [200, page({ text: 'x'.repeat(61) }), false],
    [200, page({ scripts: [] }), false],
    [200, page({ title: 'Sign in' }), false],
    [200, page({ title: 'Challenge' }), true],
    [200, page({ title: 'A challenge' }), false],
    [200, page({ forms: [{ inputs: [input('a', 'hidden')] }] }), true],
    [200, page({ forms: [{ inputs: [input('a')] }] }), false],
    [403, page({ title: 'Access Denied', scripts: [] }), true],
    ...['identity', 'credential', 'passcode', 'backup_code', 'captcha'].flatMap(
      (name): [number, AnsweredPage, boolean][] => [
        [403, page({ title: 'Access Denied', looseInputs: [input(name)] }), false],
        [403, page({ title: 'Access Denied', forms: [{ inputs: [input(name)] }] }), false],
      ],
    ),
    [403, page({ title: 'Access Denied', looseInputs: [input('other')] }), true],
    [200, page({ text: 'Incident ID: 7', scripts: [] }), true],
  ])('is told by status %i and %j: %s', (status, answered, isChallenge) => {
    expect(isFirewallChallenge(status, answered)).toBe(isChallenge)
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

describe('a sign-in asks all who share what they know of a block', () => {
  function states(...answers: readonly (object | undefined)[]) {
    const calls: string[] = []
    const sharing = answers.map((answer, index) => ({
      enter: async (origin: string) => {
        calls.push(`enter ${index} ${origin}`)
        if (answer instanceof Error) throw answer
        return { giveBack: async () => void calls.push(`give back ${index}`) }
      },
      challenged: async () => (answer instanceof Error || answer === undefined ? undefined : Number(answer)),
      passed: async () => void calls.push(`passed ${index}`),
    }))
    return { calls, gate: signInFirewall(sharing as never) }
  }

  it('once for each instance, and again after a probe that was given back', async () => {
    const { calls, gate } = states({}, {})
    const probe = await gate.enter(authUrl, 'login-page')
    expect(await gate.enter(authUrl, 'login-page')).toBeUndefined()
    await gate.enter('https://b', 'login-page')
    await probe?.giveBack()
    expect(await gate.enter(authUrl, 'login-page')).toBeDefined()
    await gate.passed(authUrl)
    const entered = (origin: string): string[] => [`enter 0 ${origin}`, `enter 1 ${origin}`]
    expect(calls).toEqual([
      ...entered(authUrl),
      ...entered('https://b'),
      'give back 0',
      'give back 1',
      ...entered(authUrl),
      'passed 0',
      'passed 1',
    ])
  })

  it('gives back what it was given before one said no, and tells that in its own step', async () => {
    const blocked = states({}, new core.FirewallChallengeError(7, { step: 'token-manager' }), {})
    for (let count = 0; count < 2; count += 1) {
      blocked.calls.length = 0
      await expect(blocked.gate.enter(authUrl, 'mfa-verify')).rejects.toMatchObject({
        nextAttemptAt: 7,
        step: 'mfa-verify',
        requestSent: false,
      })
      expect(blocked.calls).toEqual([`enter 0 ${authUrl}`, `enter 1 ${authUrl}`, 'give back 0'])
    }
    const failure = new TypeError('x')
    await expect(states(failure).gate.enter(authUrl, 'login-page')).rejects.toBe(failure)
  })

  it('waits as long as the most careful of them says', async () => {
    const error = new core.FirewallChallengeError(100, { step: 'login-page', status: 403 })
    const told = async (...answers: readonly (object | undefined)[]): Promise<unknown> =>
      states(...answers).gate.challenged(authUrl, error)
    expect(await told(Object(150), undefined, Object(120))).toMatchObject({
      nextAttemptAt: 150,
      step: 'login-page',
      status: 403,
      requestSent: true,
    })
    expect(await told(Object(50))).toMatchObject({ nextAttemptAt: 100 })
    expect(await told()).toMatchObject({ nextAttemptAt: 100 })
  })
})
