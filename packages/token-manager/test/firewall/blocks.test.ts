/** What a fleet knows of a block, each limit at it and one beyond it. */
import { describe, expect, it } from '@jest/globals'
import { createSharedFirewall, type SharedFirewall } from '../../src/firewall/shared-firewall.ts'
import { FirewallChallengeError } from '../../src/index.ts'
import { guardStore } from '../../src/store/guarded-store.ts'
import { firewallRecordName } from '../../src/store/record-names.ts'
import type { FirewallRecord } from '../../src/store/token-record.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'
import { authUrl, slowClock, start, slowly } from '../refresh-protocol/by-hand.ts'

describe('a block that a fleet knows of', () => {
  const name = firewallRecordName(authUrl)
  const nextAttemptOf = async (firewall: SharedFirewall): Promise<unknown> =>
    Promise.resolve(firewall.enter(authUrl)).then(
      (probe) => (probe === undefined ? 'free' : 'probe'),
      (error: unknown) => {
        expect(error).toMatchObject({ step: 'token-manager', requestSent: false })
        return Reflect.get(Object(error), 'nextAttemptAt')
      },
    )
  const challenge = (seconds: number, requestSent = true): FirewallChallengeError =>
    new FirewallChallengeError(start + seconds, { requestSent })

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
      firewall: () => createSharedFirewall(guarded, clock.runtime),
      record: async () => (await memory.read(name))?.record,
      fail: (down: boolean) => void (isDown = down),
    }
  }
  const block = (challenges: number, noted: number, wait: number): FirewallRecord => ({
    schema: 1,
    state: 'firewall',
    challenges,
    noted_at: start + noted,
    wait,
  })

  it('blocks for what the service asked for, to the millisecond, and lets one process probe for a minute', async () => {
    const { clock, firewall, record, memory } = world()
    const [one, other] = [firewall(), firewall()]
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
    const { clock, firewall } = world()
    clock.random = random
    const one = firewall()
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
    const { clock, firewall, record } = world()
    const one = firewall()
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
    const { clock, firewall, fail, record } = world()
    const one = firewall()
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
    const { clock, firewall, memory, record } = world()
    const one = firewall()
    await one.challenged(authUrl, challenge(100))
    clock.now = 39_970
    await one.challenged(authUrl, challenge(50))
    expect(await record()).toEqual(block(1, 39, 61))
    // What says nothing of challenges blocks nobody.
    memory.put(name, { version: 9, record: block(0, 39, 600) })
    await one.sync(authUrl)
    expect([one.isBlocked(authUrl), await nextAttemptOf(one)]).toEqual([false, 'free'])
    memory.clear()
    const other = firewall()
    await other.sync(authUrl)
    expect([other.isBlocked(authUrl), await nextAttemptOf(other)]).toEqual([false, 'free'])
  })

  it('by a clock of the future is noted again by ours, where that is ahead by more than four hours', async () => {
    for (const [ahead, isNoted] of [
      [14_400, false],
      [14_401, true],
    ] as const) {
      const { clock, firewall, memory, record } = world()
      memory.put(name, { version: 1, record: block(3, ahead, 600) })
      const one = firewall()
      await one.sync(authUrl)
      clock.now = 500
      expect(await nextAttemptOf(one)).toBe(start + 600)
      expect(await record()).toEqual(isNoted ? block(3, 0, 600) : block(3, ahead, 600))
    }
  })

  it('is as old as the clock of who wrote it says, but no older than the look before', async () => {
    const { clock, firewall, memory } = world()
    memory.put(name, { version: 1, record: block(1, -100, 600) })
    const [early, late] = [firewall(), firewall()]
    await early.sync(authUrl)
    expect(await nextAttemptOf(early)).toBe(start + 500)
    clock.now = 10_000
    await early.sync(authUrl)
    clock.now = 20_000
    memory.put(name, { version: 2, record: block(1, -3600, 600) })
    await Promise.all([early.sync(authUrl), late.sync(authUrl)])
    // Written within the last ten seconds, whatever its clock says.
    expect(await nextAttemptOf(early)).toBe(start + 610)
    expect(late.isBlocked(authUrl)).toBe(false)
    // A store that went back says nothing of that kind.
    memory.put(name, { version: 1, record: block(1, -100, 600) })
    await early.sync(authUrl)
    expect(await nextAttemptOf(early)).toBe(start + 500)
    // Seen before, it ages by our own clocks, whichever way the wall clock jumps.
    clock.now = 30_000
    clock.wallOnly = -80_000
    await early.sync(authUrl)
    expect(await nextAttemptOf(early)).toBe(start - 50 + 470)
    clock.wallOnly = 0
    // Of the same version, and yet another write.
    memory.put(name, { version: 1, writeId: 'another', record: block(1, -300, 600) })
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
        read: async () => ({ version: 1 + swaps, writeId: `w${swaps}`, record: record }),
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
