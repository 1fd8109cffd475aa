/** A refresh's turn within the budget: how it is waited for, spent, renewed and left. */
import { describe, expect, it } from '@jest/globals'
import { createRefreshBudget } from '../../src/budget/refresh-budget.ts'
import { hurry, leaveTurn, spendTurn, waitForTurn } from '../../src/driver/turn.ts'
import { know } from '../../src/driver/account-memory.ts'
import type { Context } from '../../src/driver/context.ts'
import { momentOf } from '../../src/driver/driver.ts'
import { contextOf } from '../../src/manager/managed.ts'
import { manageTokens } from '../../src/manager/manager.ts'
import { accepted } from '../../src/refresh-protocol/knowledge.ts'
import { machine } from '../../src/refresh-protocol/machine.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'
import { authUrl, signedIn, slowClock, start, turns } from '../refresh-protocol/by-hand.ts'

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
    const sso = { refresh: () => Promise.reject(new Error('nothing is sent')) }
    const whole = contextOf(manageTokens({ sso, store: mapStore() }, clock.runtime, machine))
    const account = whole.memory.of('ann')
    const stored = { version: 3, writeId: 'w3', record: signedIn() }
    know(account, accepted(account.knowledge, stored, momentOf(whole)))
    const asked: unknown[] = []
    const budget = createRefreshBudget({ perMinute: 4, burst: 2 }, whole.store, clock.runtime, () => false)
    const told: unknown[] = []
    const context: Context = {
      ...whole,
      emit: (...event) => void told.push(event),
      budget: {
        ...budget,
        place: (...call) => {
          asked.push(call.slice(2))
          return budget.place(...call)
        },
        move: (...call) => void asked.push(call),
      },
    }
    /** So many wait for the refresh. */
    const wait = (callers: number): void => know(account, { ...account.knowledge, callers })
    return {
      clock,
      account,
      wait,
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
    const { account, context, clock, taken } = withBudget()
    const wait = (url = authUrl) => waitForTurn(account, url, context)
    expect([await wait(), await wait()]).toEqual([true, false])
    expect(account.turn).toMatchObject({ authUrl, place: { monotonic: 0 } })
    expect([await taken(), await taken()]).toEqual(['a place', 'none'])
    expect([await wait('https://b.example'), await taken(), await taken()]).toEqual([true, 'a place', 'none'])
    clock.now = 2999
    expect(await wait('https://b.example')).toBe(false)
    clock.now = 3000
    expect(await wait('https://b.example')).toBe(true)
    expect(account.turn).toMatchObject({ authUrl: 'https://b.example', place: { monotonic: 3000 } })
    leaveTurn(account, context)
    expect([account.turn, await taken('https://b.example'), await taken('https://b.example')]).toEqual([
      undefined,
      'a place',
      'none',
    ])
    expect(await waitForTurn(account, authUrl, { ...context, budget: undefined })).toBe(false)
  })

  it('is asked for by who waits, and how urgently', async () => {
    const { account, wait, context, clock, asked, told, taken } = withBudget()
    const hurried = (): unknown => {
      asked.length = 0
      hurry(account, context)
      return asked.flat().at(-1)
    }
    account.flight = { synced: Promise.resolve(), done: Promise.resolve() }
    expect(hurried()).toBe('background')
    wait(1)
    expect(hurried()).toBe('with a token')
    expect(asked).toEqual([[authUrl, account, 'with a token']])
    clock.now = 30_000_000
    expect(hurried()).toBe('without a token')
    account.turns = { refused: true, missed: false }
    expect(hurried()).toBe('turned away before')
    account.flight = undefined
    expect([hurried(), asked]).toEqual([undefined, []])

    account.turns = { refused: false, missed: false }
    await waitForTurn(account, authUrl, context)
    leaveTurn(account, context)
    expect(asked).toEqual([['without a token', undefined]])
    wait(0)
    asked.length = 0
    await waitForTurn(account, authUrl, { ...context, background: { ...context.background, outlivesCalls: false } })
    expect(asked).toEqual([['background', 1000]])
    leaveTurn(account, context)
    wait(1)
    await taken()
    await taken()
    expect(told).toEqual([])
    await expect(waitForTurn(account, authUrl, context)).rejects.toMatchObject({ code: 'ERR_SSO_REFRESH_BUDGET' })
    expect([account.turn, account.turns.refused]).toEqual([undefined, true])
    expect(told).toEqual([['over-budget', { account: 'ann', auth_url: authUrl, nextAttemptAt: start + 30_000 + 33 }]])
  })

  it('is spent by one request, and has to be good when that is written', async () => {
    const { account, context, clock, renewals } = withBudget()
    expect(spendTurn(account, { ...context, budget: undefined }).isGood()).toBe(true)
    expect(spendTurn(account, context).isGood()).toBe(false)
    for (const [age, isGood] of [
      [2999, true],
      [3000, false],
    ] as const) {
      account.turns = { refused: false, missed: false }
      await waitForTurn(account, authUrl, context)
      const spent = spendTurn(account, context)
      expect([account.turn, renewals()]).toEqual([undefined, []])
      clock.now += age
      expect([spent.isGood(), account.turns.missed]).toEqual([isGood, !isGood])
    }
  })

  it('is renewed each second until the request is written, where a connection took too long before', async () => {
    const { account, context, clock, asked, renewals, nextSecond, taken } = withBudget()
    const missed = async () => {
      account.turns = { refused: false, missed: true }
      await waitForTurn(account, authUrl, context)
      asked.length = 0
      return spendTurn(account, context)
    }
    const spent = await missed()
    await nextSecond()
    expect([asked.length, renewals().length, await taken()]).toEqual([1, 1, 'none'])
    clock.now = 3999
    expect([spent.isGood(), account.turns.missed]).toEqual([true, false])
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
