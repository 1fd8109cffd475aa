/**
 * The gate of the budget for refreshes (`requestBudget`): before each request, the account waits for its place in the budget of the
 * host. A place that was not used is the account's until its refresh is over.
 */
import { tracingChannel } from 'node:diagnostics_channel'
import { RefreshBudgetError } from '../../errors.ts'
import type { Account } from '../../kernel/account-memory.ts'
import type { Context } from '../../kernel/context.ts'
import type { Gate, Pass } from '../../kernel/gate.ts'
import { hostOf, isUsable } from '../../kernel/knowledge.ts'
import { type Instant, instantOf, pause } from '../../support/runtime.ts'
import type { Place, Rank, RefreshBudget } from './refresh-budget.ts'
import { placeLife } from './request-budget.ts'

/**
 * What subscribers of the tracing channel `owner-sso:budget` are given: each wait for a place. Node adds `error` where there was
 * none, a RefreshBudgetError or StoreError.
 */
export interface BudgetTrace {
  /** Places that there are in any minute. */
  readonly per_minute: number
}

const waits = tracingChannel<unknown, BudgetTrace>('owner-sso:budget')

/** Milliseconds that a call waits for a refresh that can wait. */
const shortWait = 1000

/** An account's place that was taken and not used yet, and what became of those before it. */
interface Turn {
  authUrl: string
  place: Place | undefined
  refused: boolean
  missed: boolean
  /** The tokens in whose place new ones are wanted: with others, all of it begins anew. */
  readonly seen: Instant
}

export function budgetGate(
  budget: RefreshBudget,
  { runtime, work, emit }: Pick<Context, 'runtime' | 'work' | 'emit'>,
): Gate {
  const turns = new WeakMap<Account, Turn>()

  function turnOf(account: Account): Turn {
    const known = turns.get(account)
    const { seen } = account.knowledge
    if (known?.seen === seen) return known
    const turn: Turn = { authUrl: known?.authUrl ?? '', place: known?.place, refused: false, missed: false, seen }
    turns.set(account, turn)
    return turn
  }

  function leave(account: Account): void {
    const turn = turns.get(account)
    if (turn?.place === undefined) return
    budget.giveBack(turn.authUrl, turn.place)
    turn.place = undefined
  }

  function rankOf(account: Account): Rank {
    if (account.knowledge.callers === 0) return 'background'
    if (isUsable(account.knowledge, instantOf(runtime))) return 'with a token'
    return turnOf(account).refused ? 'turned away before' : 'without a token'
  }

  /** @throws RefreshBudgetError where it would take longer than a request may; StoreError */
  async function waitForPlace(account: Account, authUrl: string): Promise<void> {
    leave(account)
    const rank = rankOf(account)
    // Where nothing may outlive a call, the call waits for it, although it has a token.
    const isHeldUp = rank === 'background' && !work.settings.outlivesCalls
    try {
      const place = await traced({ per_minute: budget.perMinute }, () =>
        budget.place(authUrl, account, rank, isHeldUp ? shortWait : undefined),
      )
      Object.assign(turnOf(account), { authUrl, place })
    } catch (error) {
      if (error instanceof RefreshBudgetError) {
        turnOf(account).refused = true
        void emit('over-budget', { account: account.name, auth_url: authUrl, nextAttemptAt: error.nextAttemptAt })
      }
      throw error
    }
  }

  /** From its use on the place counts as used, whatever becomes of the request. */
  function passOf(account: Account, turn: Turn, place: Place): Pass {
    let newest = place
    let isEnded = false
    /** For a request whose connection took longer than a place lasts: it takes one place after the other until it is sent. */
    const renew = async (): Promise<void> => {
      await pause(runtime, placeLife / 3)
      if (isEnded) return
      const next = await budget.place(turn.authUrl, account, rankOf(account))
      if (isEnded) return budget.giveBack(turn.authUrl, next)
      newest = next
      await renew()
    }
    const end = (): void => void (isEnded = true)
    return {
      use() {
        turn.place = undefined
        // Where none is to be had the request is not sent, and that is told by the next turn.
        if (turn.missed) renew().catch(() => undefined)
      },
      isGood() {
        turn.missed = !budget.isUsable(newest)
        // From now on it is on its way, and the answer may take long; or it is never sent.
        end()
        return !turn.missed
      },
      end,
    }
  }

  return {
    async enter({ account, authUrl }) {
      const turn = turnOf(account)
      const { place } = turn
      if (place !== undefined && turn.authUrl === authUrl && budget.isUsable(place)) return passOf(account, turn, place)
      await waitForPlace(account, authUrl)
      return 'waited'
    },
    hurry(account) {
      const host = hostOf(account.knowledge)
      if (host !== undefined && account.flight !== undefined) budget.move(host, account, rankOf(account))
    },
    leave,
  }
}

const traced = (message: BudgetTrace, wait: () => Promise<Place>): Promise<Place> =>
  waits.hasSubscribers ? waits.tracePromise(wait, message) : wait()
