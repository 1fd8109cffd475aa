/** How often something may be tried: counted from the first try on. */
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals'
import { triesWithin } from '../src/status-page/sign-in/tries.ts'

const now = 1_790_000_000
beforeEach(() => void jest.useFakeTimers({ now: now * 1000 }))
afterEach(() => void jest.useRealTimers())
const at = (seconds: number) => jest.setSystemTime((now + seconds) * 1000)

it('lets each name have a number of tries in a time, and tells how long to wait', () => {
  const tries = triesWithin({ tries: 2, during: 900 })
  expect([tries.count('ann'), tries.count('ann')]).toEqual([0, 0])
  at(1)
  expect([tries.count('ann'), tries.count('bob')]).toEqual([899, 0])
  at(900)
  expect([tries.count('ann'), tries.count('ann'), tries.count('ann')]).toEqual([0, 0, 900])
  tries.forget('ann')
  expect(tries.count('ann')).toBe(0)
})

it('counts a thousand names, and has a further one wait, so that none of them is forgotten', () => {
  const tries = triesWithin({ tries: 1, during: 900 })
  expect(tries.count('ann')).toBe(0)
  at(1)
  for (let index = 1; index < 1000; index += 1) expect(tries.count(`name ${index}`)).toBe(0)
  expect([tries.count('one more'), tries.count('ann')]).toEqual([899, 899])
})
