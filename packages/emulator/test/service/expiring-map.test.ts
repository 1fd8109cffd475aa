import { describe, expect, it } from '@jest/globals'
import * as fc from 'fast-check'
import { createClock } from '../../src/service/clock.ts'
import { createExpiringMap } from '../../src/service/expiring-map.ts'

describe('createExpiringMap', () => {
  it('forgets an entry when its time is over', () => {
    const clock = createClock()
    const map = createExpiringMap<number>({ clock, lifetime: () => 10, max: 5 })
    map.set('a', 1)
    clock.advance(9)
    expect(map.get('a')).toBe(1)
    clock.advance(2)
    expect(map.get('a')).toBeUndefined()
  })

  it('never holds more than its maximum, and keeps the newest', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), fc.nat(20))), fc.integer({ min: 1, max: 5 }), (entries, max) => {
        const clock = createClock()
        const map = createExpiringMap<number>({ clock, lifetime: () => 30, max })
        for (const [key, seconds] of entries) {
          map.set(key, seconds)
          expect(map.get(key)).toBe(seconds)
          expect([...map.values()].length).toBeLessThanOrEqual(max)
          clock.advance(seconds)
        }
      }),
    )
  })
})
