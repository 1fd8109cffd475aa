import { describe, expect, it } from '@jest/globals'
import { useEmulator } from '../../src/jest.ts'

const emulator = useEmulator()

const machine = (): number => Date.now() / 1000

describe('the clock', () => {
  it('stands still while it is frozen, and moves by hand alone', () => {
    const { clock } = emulator
    clock.freeze()
    const moment = clock.now()
    while (machine() <= moment + 0.002);
    expect([clock.now(), clock.frozen]).toEqual([moment, true])
    clock.advance(30)
    expect(clock.now()).toBe(moment + 30)
    clock.jump(1_000_000)
    expect(clock.now()).toBe(1_000_000)
    expect(clock.offset).toBeCloseTo(1_000_000 - machine(), 0)
  })

  it('runs on from where it stands', () => {
    const { clock } = emulator
    clock.freeze()
    clock.jump(5_000_000)
    clock.freeze()
    clock.unfreeze()
    clock.unfreeze()
    expect(clock.frozen).toBe(false)
    const moment = clock.now()
    expect(moment).toBeCloseTo(5_000_000, 0)
    while (clock.now() === moment);
    expect(clock.now()).toBeGreaterThan(moment)
  })

  it('jumps to a moment, also backwards, and can be reset', () => {
    const { clock } = emulator
    clock.jump(2_000_000_000)
    expect(clock.now()).toBeCloseTo(2_000_000_000, 0)
    clock.jump(1)
    expect(clock.now()).toBeCloseTo(1, 0)
    clock.freeze()
    clock.reset()
    expect([clock.now(), clock.offset]).toEqual([expect.closeTo(machine(), 0), 0])
    expect(clock.frozen).toBe(false)
  })

  it.each([Number.NaN, Infinity])('rejects %d', (value) => {
    const { clock } = emulator
    expect(() => clock.jump(value)).toThrow('jump(to): to must be a finite number')
    expect(() => clock.advance(value)).toThrow(TypeError)
  })
})
