/** A lost answer is asked for once more only by the process that lost it, and only while the grace runs. */
import { describe, expect, it } from '@jest/globals'
import { SsoTimeoutError } from '../../src/index.ts'
import { account, bench, deferred, hours, idle, signedIn } from './harness.ts'

describe('nothing is replayed early', () => {
  const lost = (): Promise<never> => Promise.reject(new SsoTimeoutError('no answer', { requestSent: true }))

  it('by another process than the one that lost the answer', async () => {
    const world = bench()
    const [holder, other] = [world.process(), world.process({ rotationGrace: 60 })]
    await holder.save(account, world.tokens())
    await world.pass(hours(7))
    world.answer = lost
    await holder.getAccessToken(account)
    await idle()
    await other.getAccessToken(account)
    await world.pass(1000)
    expect(world.sent).toEqual(['r0'])
  })

  it('once the grace is over, counted from the request by the clock that shows more', async () => {
    for (const [grace, later] of [
      [20, (world: ReturnType<typeof bench>) => world.pass(20_000)],
      [3600, async (world: ReturnType<typeof bench>) => world.jump(hours(0.9) + 3_600_000)],
    ] as const) {
      const world = bench()
      const tokens = world.process({ rotationGrace: grace })
      await tokens.save(account, world.tokens({ expires_at: world.now() / 1000 + 24 * 3600 }))
      await world.pass(hours(20))
      const answer = deferred<never>()
      world.answer = () => answer.promise
      await tokens.getAccessToken(account)
      await idle()
      await later(world)
      answer.reject(new SsoTimeoutError('no answer', { requestSent: true }))
      await world.pass(1000)
      await tokens.getAccessToken(account)
      await idle()
      expect(world.sent).toEqual(['r0'])
    }
  })

  it('by a process that is held up between its decision and the request until the grace is over', async () => {
    const { world, tokens } = await signedIn(hours(7), { rotationGrace: 5 })
    world.answer = lost
    const swap = world.store.swap.bind(world.store)
    world.store.swap = async (...write) => {
      const answer = await swap(...write)
      const [, , next] = write
      if (next.state === 'signed-in' && next.intent?.replay === 1) world.jump(6000)
      return answer
    }
    await tokens.getAccessToken(account)
    await idle()
    expect(world.sent).toEqual(['r0'])
    expect(await tokens.status(account)).toMatchObject({ state: 'in-doubt' })
  })
})

it.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('rotationGrace: %p is refused', (rotationGrace) => {
  expect(() => bench().process({ rotationGrace })).toThrow(/rotationGrace must be a number of seconds/u)
})
