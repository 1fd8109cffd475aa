/** How a waiting process hears of a change: by the store's hint, or by looking every 25 to 250 ms. */
import { describe, expect, it } from '@jest/globals'
import type { TokenStore } from '../../src/index.ts'
import { account, bench, deferred, hours, idle, signedIn } from './harness.ts'

describe('a process that waits for another one’s refresh', () => {
  it.each([
    [0, [25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25]],
    [1, [50, 75, 100, 125, 150, 175, 200, 225, 250, 250, 250]],
  ])('looks again after 25 to 250 ms, more rarely with time (random %d)', async (random, milliseconds) => {
    const { world, tokens: holder } = await signedIn(hours(8))
    world.answer = () => new Promise(() => undefined)
    void holder.getAccessToken(account)
    await idle()
    const looks: number[] = []
    const read: TokenStore['read'] = (name) => {
      if (name === account) looks.push(world.now())
      return world.store.read(name)
    }
    void world.process({ store: { ...world.store, read } }, 0, () => random).getAccessToken(account)
    await world.pass(3000)
    const pauses = looks.slice(1).map((at, index) => at - (looks[index] ?? 0))
    expect(pauses.slice(0, 11)).toEqual(milliseconds)
  })

  it('looks at once where the store tells it of the change', async () => {
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
