/** The claim to sweep, each limit at it and one beyond it. */
import { describe, expect, it } from '@jest/globals'
import { claimDesk } from '../../src/keeper/claim.ts'
import { guardStore } from '../../src/store/guarded-store.ts'
import { keeperRecordName } from '../../src/store/record-names.ts'
import type { Runtime } from '../../src/support/runtime.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'
import { slowClock, slowly, start } from '../refresh-protocol/by-hand.ts'

describe('the claim to sweep', () => {
  const every = 900_000
  function desks() {
    const clock = slowClock()
    const memory = mapStore()
    const slow = slowly(memory)
    const store = guardStore(
      {
        ...slow,
        swap: (...call) => {
          // Nobody needs what the record was before.
          expect(call[4]).toMatchObject({ forgetOlder: true })
          return slow.swap(...call)
        },
      },
      undefined,
    )
    const liveness = { value: 'unknown' as ReturnType<Runtime['livenessOf']> }
    const runtime = { ...clock.runtime, livenessOf: () => liveness.value }
    const desk = (interval = every) => claimDesk(interval, { store, runtime })
    const record = async () => (await memory.read(keeperRecordName))?.record
    return { clock, memory, desk, record, liveness }
  }
  const claimed = async (asked: ReturnType<ReturnType<typeof claimDesk>['ask']>) => {
    const claim = await asked
    if ('wait' in claim) throw new Error(`wait ${claim.wait}`)
    return claim
  }
  const idle = { schema: 1, state: 'keeper', signs: 0 } as const

  it('is one process’s, which shows that it lives every 15 seconds and tells when it has swept', async () => {
    const { clock, desk, record } = desks()
    const [one, other] = [desk(), desk()]
    const claim = await claimed(one.ask())
    const held = { ...idle, holder: { pid: 1, boot: 'b' }, at: start, swept_at: 0 }
    expect(await record()).toEqual(held)
    expect(await other.ask()).toEqual({ isSwept: true, wait: 15_000 })
    clock.now = 14_999
    expect([await claim.goesOn(), await record()]).toEqual([true, held])
    clock.now = 15_000
    expect([await claim.goesOn(), await record()]).toEqual([true, { ...held, signs: 1, at: start + 15 }])
    expect([await claim.goesOn(), await claim.goesOn(true)]).toEqual([true, true])
    expect(await record()).toEqual({ ...held, signs: 2, at: start + 15 })
    clock.now = 20_000
    await claim.release(true)
    expect(await record()).toEqual({ ...idle, swept_at: start })
    // The next one is due a quarter of an hour after the beginning; a look every five minutes until then.
    expect(await one.ask()).toEqual({ isSwept: false, wait: 300_000 })
    clock.now = 800_000
    expect([await one.ask(), await desk().ask()]).toEqual([
      { isSwept: false, wait: 100_000 },
      { isSwept: false, wait: 100_000 },
    ])
    // By the clock that never jumps as well.
    clock.wallOnly = -10_000_000
    expect(await one.ask()).toEqual({ isSwept: false, wait: 100_000 })
    clock.wallOnly = 0
    clock.now = 900_000
    const next = await claimed(other.ask())
    expect(await record()).toMatchObject({ at: start + 900, swept_at: start })
    await next.release(false)
    expect(await record()).toEqual({ ...idle, swept_at: start })
    await claimed(one.ask())
  })

  it('is taken over a minute after its last sign of life, or at once where its holder is dead', async () => {
    const { clock, desk, liveness, memory, record } = desks()
    const [one, other] = [desk(), desk()]
    const claim = await claimed(one.ask())
    clock.now = 1000
    expect(await other.ask()).toEqual({ isSwept: true, wait: 15_000 })
    clock.now = 60_999
    expect(await other.ask()).toEqual({ isSwept: true, wait: 15_000 })
    clock.now = 61_000
    await claimed(other.ask())
    expect([await claim.goesOn(), await claim.goesOn(), await claim.goesOn(true)]).toEqual([false, false, false])
    await claim.release(true)
    expect(await record()).toMatchObject({ at: start + 61, signs: 0, swept_at: 0 })
    liveness.value = 'dead'
    await claimed(desk().ask())
    memory.clear()
    await claim.release(true)
    expect(await record()).toBeUndefined()
  })

  it('is anybody’s where the store was emptied, whoever swept a moment ago', async () => {
    const { desk, memory, record } = desks()
    const one = desk()
    const claim = await claimed(one.ask())
    await claim.release(true)
    expect(await one.ask()).toMatchObject({ isSwept: false })
    memory.clear()
    await claimed(one.ask())
    expect(await record()).toMatchObject({ swept_at: 0 })
  })

  it('counts from now where the last sweep seems to have begun a moment later, by the faster clock from then on', async () => {
    const { clock, desk, memory } = desks()
    memory.put(keeperRecordName, { version: 1, record: { ...idle, swept_at: start + 30 } })
    const one = desk(60_000)
    expect(await one.ask()).toEqual({ isSwept: false, wait: 60_000 })
    memory.put(keeperRecordName, { version: 2, record: { ...idle, swept_at: start - 20 } })
    const other = desk(60_000)
    expect(await other.ask()).toEqual({ isSwept: false, wait: 40_000 })
    clock.now = 10_000
    clock.wallOnly = -100_000
    expect(await other.ask()).toEqual({ isSwept: false, wait: 30_000 })
    clock.wallOnly = 5000
    expect(await other.ask()).toEqual({ isSwept: false, wait: 25_000 })
  })

  it('for one sweep alone is held by the clock of its holder: a minute, and five that clocks may differ by', async () => {
    const { clock, desk } = desks()
    await claimed(desk(0).ask())
    for (const [wall, isHeld] of [
      [359_999, true],
      [-359_999, true],
      [360_000, false],
      [-360_000, false],
    ] as const) {
      clock.wallOnly = wall
      const asked = await desk(0).ask()
      const told = 'wait' in asked ? asked : 'claimed'
      expect([wall, told]).toEqual([wall, isHeld ? { isSwept: true, wait: 15_000 } : 'claimed'])
      if (!('wait' in asked)) {
        await asked.release(true)
        clock.wallOnly = 0
        await claimed(desk(0).ask())
      }
    }
  })

  it('is due an interval after the last sweep: by its clock, by our own looks, or at once where its clock was ahead', async () => {
    const due = async (told: number, looks: readonly number[] = []): Promise<number> => {
      const { clock, desk, memory } = desks()
      const one = desk()
      memory.put(keeperRecordName, { version: 1, record: { ...idle, swept_at: start - 10_000 } })
      for (clock.now of looks) {
        const claim = await claimed(one.ask())
        await claim.release(false)
      }
      clock.now += 10_000
      memory.put(keeperRecordName, { version: 100, record: { ...idle, swept_at: start + told } })
      const asked = await one.ask()
      if (!('wait' in asked)) return 0
      clock.now += asked.wait - 1
      expect(await one.ask()).toMatchObject({ isSwept: false })
      return asked.wait / 1000
    }
    expect([await due(-700), await due(-600), await due(-590), await due(-889), await due(-890)]).toEqual([
      190, 290, 300, 1, 0,
    ])
    expect([await due(910), await due(911)]).toEqual([300, 0])
    expect(await due(-889, [0])).toBe(300)
    expect(await due(-9, [0, 880_000])).toBe(300)
  })

  it('counts from its beginning by our own clocks where we swept, and from our first look where another did', async () => {
    const { clock, desk, memory } = desks()
    const one = desk()
    clock.now = 900
    const claim = await claimed(one.ask())
    await claim.release(true)
    clock.now = 800_900
    expect(await one.ask()).toEqual({ isSwept: false, wait: 100_000 })
    const other = desk()
    const holder = { pid: 2 }
    memory.put(keeperRecordName, { version: 90, record: { ...idle, holder, at: start, swept_at: start - 1 } })
    expect(await other.ask()).toMatchObject({ isSwept: true })
    clock.now += 700_000
    // By the other's clock it is due: that was behind ours.
    memory.put(keeperRecordName, { version: 91, record: { ...idle, swept_at: start } })
    expect(await other.ask()).toEqual({ isSwept: false, wait: 200_000 })
  })
})
