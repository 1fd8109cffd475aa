/** How often something may be tried: counted from the first try on, for all instances together. */
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import { sharedTries } from '../src/status-page/shared-tries.ts'

const now = 1_790_000_000
beforeEach(() => void jest.useFakeTimers({ now: now * 1000 }))
afterEach(() => void jest.useRealTimers())
const at = (seconds: number) => jest.setSystemTime((now + seconds) * 1000)

it('so many in so much time, each by itself', async () => {
  const tries = sharedTries(memoryTokenStore(), 'tries', { tries: 2, during: 900 })
  expect([await tries.count('ann'), await tries.count('ann')]).toEqual([0, 0])
  at(1)
  expect([await tries.count('ann'), await tries.count('bob')]).toEqual([899, 0])
  at(900)
  expect([await tries.count('ann'), await tries.count('ann'), await tries.count('ann')]).toEqual([0, 0, 900])
  await tries.forget('ann')
  expect(await tries.count('ann')).toBe(0)
})

it('none of a thousand and first name, so that those before it stay counted', async () => {
  const tries = sharedTries(memoryTokenStore(), 'tries', { tries: 1, during: 900 })
  expect(await tries.count('ann')).toBe(0)
  at(1)
  for (let index = 1; index < 1000; index += 1) expect(await tries.count(`name ${index}`)).toBe(0)
  expect([await tries.count('one more'), await tries.count('ann')]).toEqual([899, 899])
})
