/** A store whose reads lag behind its writes, as one that is read from a replica: nothing loops, and nothing is sent twice. */
import { describe, expect, it } from '@jest/globals'
import type { TokenStore, Versioned } from '../../src/index.ts'
import { account, type Bench, bench, hours } from './harness.ts'

/** Reads what stood so many milliseconds ago; `Infinity` for a replica that is cut off as it is now. */
function lagging(world: Bench, lag: () => number): TokenStore {
  const was = new Map<string, [at: number, stored: Versioned | undefined][]>()
  return {
    async read(name) {
      const then = world.now() - lag()
      return (was.get(name) ?? []).findLast(([at]) => at <= then)?.[1]
    },
    async swap(name, ...write) {
      const answer = await world.store.swap(name, ...write)
      if (!('conflict' in answer)) was.set(name, [...(was.get(name) ?? []), [world.now(), answer]])
      return answer
    },
  }
}

const thrownBy = async (call: Promise<unknown>): Promise<unknown> => call.catch((error: unknown) => error)
const busy = { code: 'ERR_SSO_STORE', reason: 'busy' }

describe('where reads lag two seconds behind writes', () => {
  it('sign-ins, sign-outs and counted tries wait until they catch up', async () => {
    const world = bench()
    const store = lagging(world, () => 2000)
    const [one, other] = [world.process({ store }), world.process({ store })]
    const through = async <Value>(call: Promise<Value>): Promise<Value> => {
      await world.pass(4000)
      return call
    }
    await one.save(account, world.tokens())
    await through(other.save(account, world.tokens({ access_token: 'newer', refresh_token: 'newer' })))
    expect(await world.process().getAccessToken(account)).toBe('newer')
    await through(one.forget(account))
    expect(await world.process().status(account)).toEqual({ state: 'signed-out' })
    const answer = { id: 'one', step: 'passcode' as const, expires_at: world.now() / 1000 + 300 }
    expect(await one.claimTry({ ...answer, tries: 0 })).toBe(true)
    expect(await through(other.claimTry({ ...answer, tries: 0 }))).toBe(false)
  })
})

describe('where reads never catch up', () => {
  async function cutOff() {
    const world = bench()
    let since: number | undefined
    const store = lagging(world, () => (since === undefined ? 0 : world.now() - since))
    const [one, other] = [world.process({ store }), world.process({ store })]
    await one.save(account, world.tokens())
    await other.status(account)
    const answer = { id: 'one', step: 'passcode' as const, tries: 0, expires_at: world.now() / 1000 + 300 }
    await world.pass(1000)
    return {
      world,
      one,
      other,
      answer,
      /** What is written from now on is never read. */
      cut: () => void (since = world.now()),
    }
  }

  it.each<[string, (cut: Awaited<ReturnType<typeof cutOff>>) => Promise<unknown>]>([
    ['a sign-in', ({ other, world }) => other.save(account, world.tokens({ refresh_token: 'newer' }))],
    ['a sign-out', ({ other }) => other.forget(account)],
    ['a counted try', ({ other, answer }) => other.claimTry(answer)],
    ['a refresh', ({ other }) => other.refresh(account)],
  ])('%s ends with a typed error, and nothing is sent for it', async (_name, call) => {
    const cut = await cutOff()
    cut.cut()
    await cut.world.pass(1000)
    await cut.one.save(account, cut.world.tokens({ access_token: 'newest', refresh_token: 'newest' }))
    await cut.one.claimTry(cut.answer)
    const outcome = thrownBy(call(cut))
    await cut.world.pass(5000)
    expect(await outcome).toMatchObject(busy)
    expect(cut.world.sent).toEqual([])
  })

  it('a refresh is sent once, and its result is served until the store is found to have it', async () => {
    const cut = await cutOff()
    await cut.world.pass(hours(8))
    cut.cut()
    await cut.world.pass(1000)
    expect(await cut.one.getAccessToken(account)).toBe('a1')
    const late = thrownBy(cut.other.getAccessToken(account))
    await cut.world.pass(5000)
    expect(await late).toMatchObject(busy)
    expect(cut.world.sent).toEqual(['r0'])
  })
})
