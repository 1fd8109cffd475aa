/** How a waiting process hears of a change: by the store's hint, or by looking every 25 to 250 ms. */
import { describe, expect, it } from '@jest/globals'
import { watchRecord } from '../../src/driver/record-watch.ts'
import { type Runtime, systemRuntime } from '../../src/support/runtime.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'
import { account, bench, deferred, hours, idle } from './harness.ts'

/** Timers that fire when the test says so. */
function stopwatch(random: number) {
  const timers: { milliseconds: number; fire: () => void; cancelled: boolean }[] = []
  const runtime: Runtime = {
    ...systemRuntime,
    random: () => random,
    after(milliseconds, fire) {
      const timer = { milliseconds, fire, cancelled: false }
      timers.push(timer)
      return () => void (timer.cancelled = true)
    },
  }
  return { runtime, timers }
}

describe('a watch', () => {
  it.each([
    [0, [25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25]],
    [1, [50, 75, 100, 125, 150, 175, 200, 225, 250, 250, 250]],
  ])('looks again after 25 to 250 ms, more rarely with time (random %d)', async (random, milliseconds) => {
    const { runtime, timers } = stopwatch(random)
    const watch = watchRecord(account, mapStore(), runtime)
    for (const look of milliseconds.keys()) {
      const change = watch.change()
      timers[look]?.fire()
      await change
    }
    expect(timers.map((timer) => timer.milliseconds)).toEqual(milliseconds)
    watch.close()
  })

  it('looks at once when the store says so, also between two looks, and not twice for one hint', async () => {
    const { runtime, timers } = stopwatch(0.5)
    let hint = (): void => undefined
    let watching = 0
    const store = {
      ...mapStore(),
      watch(_: string, onChange: () => void) {
        hint = onChange
        watching += 1
        return () => void (watching -= 1)
      },
    }
    const watch = watchRecord(account, store, runtime)
    expect(watching).toBe(0)
    const first = watch.change()
    hint()
    await first
    expect(timers[0]?.cancelled).toBe(true)
    hint()
    await watch.change()
    let third = false
    void watch.change().then(() => (third = true))
    await idle()
    expect(third).toBe(false)
    expect(watching).toBe(1)
    watch.close()
    expect(watching).toBe(0)
  })

  it('brings a waiter the new token without any time passing', async () => {
    const world = bench()
    const hints = new Set<() => void>()
    const swap = world.store.swap.bind(world.store)
    const store = {
      ...world.store,
      swap: async (...args: Parameters<typeof swap>) => {
        const answer = await swap(...args)
        for (const hint of hints) hint()
        return answer
      },
      watch(_: string, onChange: () => void) {
        hints.add(onChange)
        return () => void hints.delete(onChange)
      },
    }
    const [holder, waiter] = [world.process({ store }), world.process({ store })]
    await holder.save(account, world.tokens())
    await world.pass(hours(8))
    const reply = deferred<ReturnType<typeof world.tokens>>()
    world.answer = () => reply.promise
    const call = holder.getAccessToken(account)
    await idle()
    const waiting = waiter.getAccessToken(account)
    await idle()
    reply.resolve(world.tokens({ access_token: 'new' }))
    expect([await call, await waiting]).toEqual(['new', 'new'])
    expect(hints.size).toBe(0)
  })
})

describe('the surroundings of a real process', () => {
  it('have two clocks, randomness, and timers that can be ended', async () => {
    expect(Math.abs(systemRuntime.wallClock() - Date.now())).toBeLessThan(1000)
    expect(systemRuntime.monotonicClock()).toBeLessThanOrEqual(performance.now())
    expect(systemRuntime.uniqueId()).not.toBe(systemRuntime.uniqueId())
    let fired = 0
    const end = systemRuntime.after(1, () => (fired += 10))
    end()
    await new Promise<void>((resolve) => {
      const alive = systemRuntime.keepAlive()
      systemRuntime.after(5, () => {
        fired += 1
        alive()
        resolve()
      })
    })
    expect(fired).toBe(1)
    // Longer than setTimeout can count: it would fire at once (F3).
    systemRuntime.after(2 ** 40, () => (fired += 100))()
    const never = systemRuntime.after(2 ** 40, () => (fired += 100))
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(fired).toBe(1)
    never()
  })
})
