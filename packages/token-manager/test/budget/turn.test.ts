/** A refresh's turn within the budget: how it is waited for, spent, renewed and left. */
import { describe, expect, it } from '@jest/globals'
import { createRefreshBudget } from '../../src/budget/refresh-budget.ts'
import { hurry, leaveTurn, spendTurn, waitForTurn } from '../../src/refresh-protocol/turn.ts'
import { authUrl, slowClock, start, known, turns } from '../refresh-protocol/by-hand.ts'

describe('the turn of an account', () => {
  /** Two places in each 63 seconds. */
  function withBudget() {
    const clock = slowClock()
    let timers: { readonly milliseconds: number; readonly callback: () => void }[] = []
    clock.runtime = {
      ...clock.runtime,
      after: (milliseconds, callback) => {
        const timer = { milliseconds, callback }
        timers.push(timer)
        return () => void (timers = timers.filter((other) => other !== timer))
      },
    }
    const { cache, context } = known(clock)
    const asked: unknown[] = []
    const budget = createRefreshBudget({ perMinute: 4, burst: 2 }, context.store, clock.runtime, () => false)
    const told: unknown[] = []
    Object.assign(context, {
      emit: (...event: unknown[]) => told.push(event),
      background: { outlivesCalls: true },
      budget: {
        ...budget,
        place: (...call: Parameters<typeof budget.place>) => {
          asked.push(call.slice(2))
          return budget.place(...call)
        },
        move: (...call: Parameters<typeof budget.move>) => void asked.push(call),
      },
    })
    return {
      clock,
      cache,
      context,
      asked,
      told,
      taken: async (url = authUrl): Promise<string> => {
        const place = budget.place(url, {}, 'without a token', 5)
        const outcome = place.then(
          () => 'a place',
          () => 'none',
        )
        await turns()
        return outcome
      },
      /** What a place that is being renewed waits for. */
      renewals: () => timers.filter(({ milliseconds }) => milliseconds === 1000),
      nextSecond: async (): Promise<void> => {
        const due = timers.filter(({ milliseconds }) => milliseconds === 1000)
        timers = timers.filter((timer) => !due.includes(timer))
        clock.now += 1000
        for (const { callback } of due) callback()
        await turns()
      },
    }
  }

  it('is waited for once, is good for three seconds, and goes back where another host is asked', async () => {
    const { cache, context, clock, taken } = withBudget()
    const wait = (url = authUrl) => waitForTurn(cache, url, context)
    expect([await wait(), await wait()]).toEqual([true, false])
    expect(cache.turn).toMatchObject({ authUrl, place: { monotonic: 0 } })
    expect([await taken(), await taken()]).toEqual(['a place', 'none'])
    expect([await wait('https://b.example'), await taken(), await taken()]).toEqual([true, 'a place', 'none'])
    clock.now = 2999
    expect(await wait('https://b.example')).toBe(false)
    clock.now = 3000
    expect(await wait('https://b.example')).toBe(true)
    expect(cache.turn).toMatchObject({ authUrl: 'https://b.example', place: { monotonic: 3000 } })
    leaveTurn(cache, context)
    expect([cache.turn, await taken('https://b.example'), await taken('https://b.example')]).toEqual([
      undefined,
      'a place',
      'none',
    ])
    expect(await waitForTurn(cache, authUrl, { ...context, budget: undefined })).toBe(false)
  })

  it('is asked for by who waits, and how urgently', async () => {
    const { cache, context, clock, asked, told, taken } = withBudget()
    const hurried = (): unknown => {
      asked.length = 0
      hurry(cache, context)
      return asked.flat().at(-1)
    }
    cache.inFlight = {} as never
    expect(hurried()).toBe('background')
    cache.callers = 1
    expect(hurried()).toBe('with a token')
    expect(asked).toEqual([[authUrl, cache, 'with a token']])
    clock.now = 30_000_000
    expect(hurried()).toBe('without a token')
    cache.turns = { refused: true, missed: false }
    expect(hurried()).toBe('turned away before')
    cache.inFlight = undefined
    expect([hurried(), asked]).toEqual([undefined, []])

    cache.turns = { refused: false, missed: false }
    await waitForTurn(cache, authUrl, context)
    leaveTurn(cache, context)
    expect(asked).toEqual([['without a token', undefined]])
    cache.callers = 0
    asked.length = 0
    await waitForTurn(cache, authUrl, { ...context, background: { outlivesCalls: false } } as never)
    expect(asked).toEqual([['background', 1000]])
    leaveTurn(cache, context)
    cache.callers = 1
    await taken()
    await taken()
    expect(told).toEqual([])
    await expect(waitForTurn(cache, authUrl, context)).rejects.toMatchObject({ code: 'ERR_SSO_REFRESH_BUDGET' })
    expect([cache.turn, cache.turns.refused]).toEqual([undefined, true])
    expect(told).toEqual([['over-budget', { account: 'ann', auth_url: authUrl, nextAttemptAt: start + 30_000 + 33 }]])
  })

  it('is spent by one request, and has to be good when that is written', async () => {
    const { cache, context, clock, renewals } = withBudget()
    expect(spendTurn(cache, { ...context, budget: undefined }).isGood()).toBe(true)
    expect(spendTurn(cache, context).isGood()).toBe(false)
    for (const [age, isGood] of [
      [2999, true],
      [3000, false],
    ] as const) {
      cache.turns = { refused: false, missed: false }
      await waitForTurn(cache, authUrl, context)
      const spent = spendTurn(cache, context)
      expect([cache.turn, renewals()]).toEqual([undefined, []])
      clock.now += age
      expect([spent.isGood(), cache.turns.missed]).toEqual([isGood, !isGood])
    }
  })

  it('is renewed each second until the request is written, where a connection took too long before', async () => {
    const { cache, context, clock, asked, renewals, nextSecond, taken } = withBudget()
    const missed = async () => {
      cache.turns = { refused: false, missed: true }
      await waitForTurn(cache, authUrl, context)
      asked.length = 0
      return spendTurn(cache, context)
    }
    const spent = await missed()
    await nextSecond()
    expect([asked.length, renewals().length, await taken()]).toEqual([1, 1, 'none'])
    clock.now = 3999
    expect([spent.isGood(), cache.turns.missed]).toEqual([true, false])
    await nextSecond()
    expect([asked.length, renewals()]).toEqual([1, []])
    // Ended while it waits for the next place: whoever is next takes that.
    clock.now = 100_000
    const ended = await missed()
    renewals()[0]?.callback()
    while (asked.length === 0) await Promise.resolve()
    ended.end()
    await turns()
    expect([await taken(), await taken()]).toEqual(['a place', 'none'])
  })
})
