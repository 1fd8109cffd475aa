/** The budget as callers of a token manager meet it. */
import { describe, expect, it } from '@jest/globals'
import { FirewallChallengeError, refreshBudgetRecordName, type TokenStore } from '../../src/index.ts'
import { account, bench, hours, idle } from '../refresh-protocol/harness.ts'

const requestBudget = { perMinute: 2, burst: 1 }
const overBudget = { code: 'ERR_SSO_REFRESH_BUDGET', requestSent: false, step: 'token-manager' }

async function withAccounts(count: number): Promise<{ world: ReturnType<typeof bench>; names: string[] }> {
  const world = bench()
  const names = Array.from({ length: count }, (_, index) => `owner-${index}@example.com`)
  const first = world.process()
  for (const name of names) await first.save(name, world.tokens({ refresh_token: name }))
  return { world, names }
}

describe('a budget', () => {
  it('lets one process after the other send, and turns away who would wait too long', async () => {
    const { world, names } = await withAccounts(4)
    await world.pass(hours(9))
    const fleet = [world.process({ requestBudget }), world.process({ requestBudget })]
    const heard: unknown[] = []
    for (const tokens of fleet) tokens.on('over-budget', (event) => heard.push(event))
    const calls = Promise.allSettled(names.map(async (name, index) => fleet[index % 2]?.getAccessToken(name)))
    await world.pass(1000)
    expect(world.sent).toHaveLength(1)
    await world.pass(40_000)
    const outcomes = await calls
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
    expect(refused).toHaveLength(3)
    for (const error of refused) expect(error).toMatchObject(overBudget)
    expect(heard).toHaveLength(3)
    expect(heard[0]).toMatchObject({ auth_url: 'http://127.0.0.1:9', nextAttemptAt: expect.any(Number) })
    expect(JSON.stringify(heard)).not.toContain('a0')
  })

  it('never keeps a working token back', async () => {
    const { world, names } = await withAccounts(3)
    await world.pass(hours(7))
    const tokens = world.process({ requestBudget })
    // The first call reads the record; what is still fresh enough is served while its refresh waits.
    for (const name of names) expect(await tokens.getAccessToken(name)).toBe('a0')
    await world.pass(1000)
    expect(world.sent).toHaveLength(1)
  })

  it('gives its turn to the next where another process has refreshed meanwhile', async () => {
    const { world, names } = await withAccounts(3)
    const [one = '', two = '', three = ''] = names
    await world.pass(hours(9))
    const [tokens, other] = [world.process({ requestBudget: { perMinute: 20 } }), world.process()]
    const calls = [one, two, three].map(async (name) => tokens.getAccessToken(name))
    await idle()
    await other.getAccessToken(two)
    await world.pass(20_000)
    expect(new Set(await Promise.all(calls)).size).toBe(3)
    expect(world.sent.toSorted()).toEqual(names.toSorted())
  })

  it('gives a place that it needs no more to whoever waits', async () => {
    const { world, names } = await withAccounts(2)
    const [one = '', two = ''] = names
    await world.pass(hours(9))
    const other = world.process()
    let isClaimed = false
    const swap: TokenStore['swap'] = async (name, ...write) => {
      const answer = await world.store.swap(name, ...write)
      if (name.startsWith('owner-sso:refresh-budget:') && !isClaimed) {
        isClaimed = true
        await other.getAccessToken(one)
      }
      return answer
    }
    const tokens = world.process({ store: { ...world.store, swap }, requestBudget })
    const calls = [tokens.getAccessToken(one), tokens.refresh(two, { priority: 'background' })]
    await world.pass(5000)
    expect(world.sent).toEqual([one, two])
    await Promise.all(calls)
  })

  it('serves a background refresh that a caller begins to wait for before the other background ones', async () => {
    const { world, names } = await withAccounts(4)
    const [first = '', second = '', third = '', urgent = ''] = names
    await world.pass(hours(9))
    const tokens = world.process({ requestBudget: { perMinute: 20 } })
    const background = [first, second, third, urgent].map(async (name) =>
      tokens.refresh(name, { priority: 'background' }),
    )
    await world.pass(500)
    const call = tokens.getAccessToken(urgent)
    await world.pass(30_000)
    await Promise.all([...background, call])
    expect(world.sent).toEqual([first, urgent, second, third])
  })

  it('a store that is down: nothing is sent, and who needs a token hears of the store', async () => {
    const { world } = await withAccounts(0)
    const tokens = world.process({ requestBudget })
    await tokens.save(account, world.tokens())
    await world.pass(hours(9))
    const swap = world.store.swap.bind(world.store)
    // Down for the record of the budget alone: that must not let a request through.
    world.store.swap = async (name, ...rest) => {
      if (name.startsWith('owner-sso:refresh-budget:')) throw new Error('down')
      return swap(name, ...rest)
    }
    const call = tokens.getAccessToken(account)
    await expect(call).rejects.toMatchObject({ code: 'ERR_SSO_STORE', reason: 'write-failed' })
    expect(world.sent).toEqual([])
    world.store.swap = swap
    expect(await tokens.getAccessToken(account)).toBe('a1')
  })

  it('waits in no line while the firewall blocks', async () => {
    const { world, names } = await withAccounts(2)
    await world.pass(hours(9))
    const tokens = world.process({ requestBudget: { perMinute: 600, burst: 10 } })
    world.answer = () =>
      Promise.reject(new FirewallChallengeError(Math.ceil(world.now() / 1000 + 900), { status: 403 }))
    const blocked = { code: 'ERR_SSO_FIREWALL_CHALLENGE' }
    await expect(tokens.getAccessToken(names[0] ?? '')).rejects.toMatchObject(blocked)
    await expect(tokens.getAccessToken(names[1] ?? '')).rejects.toMatchObject(blocked)
    expect(world.sent).toHaveLength(1)
  })

  it('a connection that takes longer than a place lasts is not sent late, and is served all the same', async () => {
    const { world, names } = await withAccounts(1)
    const [name = ''] = names
    await world.pass(hours(9))
    const tokens = world.process({ requestBudget: { perMinute: 30 } })
    let tries = 0
    world.connect = async (beforeSend) => {
      tries += 1
      await world.after(5000)
      beforeSend()
    }
    const call = tokens.getAccessToken(name)
    await world.pass(25_000)
    expect(await call).toBe('a1')
    expect(tries).toBe(2)
    expect(world.sent).toHaveLength(1)
  })

  it('nor does it take places any more once it is sent, however long the answer takes', async () => {
    const { world, names } = await withAccounts(1)
    const [name = ''] = names
    await world.pass(hours(9))
    const tokens = world.process({ requestBudget: { perMinute: 30 } })
    world.connect = async (beforeSend) => {
      await world.after(5000)
      beforeSend()
    }
    const taken = async (): Promise<unknown> => {
      const stored = await world.store.read(refreshBudgetRecordName(world.tokens().auth_url))
      return stored?.record.state === 'refresh-budget' && stored.record.free
    }
    let before: unknown
    world.answer = async (...call) => {
      before = await taken()
      await world.after(20_000)
      return world.newTokens(...call)
    }
    const call = tokens.getAccessToken(name)
    await world.pass(40_000)
    expect(await call).toBe('a1')
    expect(await taken()).toEqual(before)
  })

  it('refuses a priority that there is none of', async () => {
    const { world } = await withAccounts(0)
    const call = world.process().refresh(account, JSON.parse('{"priority":"high"}'))
    await expect(call).rejects.toThrow('priority')
  })
})
