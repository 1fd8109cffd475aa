/**
 * The turn of an account: its place in the budget for refreshes (`requestBudget`), from the wait for it to the request that
 * uses it.
 */
import { tracingChannel } from 'node:diagnostics_channel'
import { RefreshBudgetError } from '../../errors.ts'
import type { RefreshBudget } from './refresh-budget.ts'
import { placeLife } from './request-budget.ts'
import type { Place, Rank } from './waiting-line.ts'
import type { Account, Turn } from '../../kernel/account-memory.ts'
import { hostOf, isUsable } from '../../kernel/knowledge.ts'
import type { Context } from '../../kernel/context.ts'
import { instantOf } from '../../support/runtime.ts'

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

/**
 * Waits for a turn, unless the account has one that is still good.
 *
 * @returns whether there was a wait: then the record may have changed
 * @throws RefreshBudgetError where it would take longer than a request may; StoreError
 */
export async function waitForTurn(account: Account, authUrl: string, context: Context): Promise<boolean> {
  const { budget } = context
  if (budget === undefined) return false
  if (account.turn?.authUrl === authUrl && budget.isUsable(account.turn.place)) return false
  leaveTurn(account, context)
  const rank = rankOf(account, context)
  // Where nothing may outlive a call, the call waits for it, although it has a token.
  const isHeldUp = rank === 'background' && !context.background.outlivesCalls
  try {
    const place = await tracePlace({ per_minute: budget.perMinute }, () =>
      budget.place(authUrl, account, rank, isHeldUp ? shortWait : undefined),
    )
    account.turn = { authUrl, place }
    return true
  } catch (error) {
    if (error instanceof RefreshBudgetError) {
      account.turns = { ...account.turns, refused: true }
      context.emit('over-budget', { account: account.name, auth_url: authUrl, nextAttemptAt: error.nextAttemptAt })
    }
    throw error
  }
}

/** Free when nobody listens. */
const tracePlace = (message: BudgetTrace, wait: () => Promise<Place>): Promise<Place> =>
  waits.hasSubscribers ? waits.tracePromise(wait, message) : wait()

/** The turn was not used: whoever is next takes it. */
export function leaveTurn(account: Account, { budget }: Context): void {
  if (account.turn !== undefined) budget?.giveBack(account.turn.authUrl, account.turn.place)
  account.turn = undefined
}

/** Somebody waits for the refresh now, who did not when it was begun. */
export function hurry(account: Account, context: Context): void {
  const host = hostOf(account.knowledge)
  if (host !== undefined && account.flight !== undefined) context.budget?.move(host, account, rankOf(account, context))
}

function rankOf(account: Account, { runtime }: Context): Rank {
  if (account.knowledge.callers === 0) return 'background'
  if (isUsable(account.knowledge, instantOf(runtime))) return 'with a token'
  return account.turns.refused ? 'turned away before' : 'without a token'
}

/** A turn in use. */
export interface SpentTurn {
  /** Asked right before the request is written. */
  readonly isGood: () => boolean
  readonly end: () => void
}

/** From here on the place counts as used, whatever becomes of the request. */
export function spendTurn(account: Account, context: Context): SpentTurn {
  const { turn } = account
  const { budget } = context
  account.turn = undefined
  if (budget === undefined || turn === undefined) return { isGood: () => budget === undefined, end: () => undefined }
  const place = account.turns.missed ? renewed(account, turn, budget, context) : fixed(turn)
  return {
    isGood() {
      const isGood = budget.isUsable(place.current())
      account.turns = { ...account.turns, missed: !isGood }
      // From now on it is on its way, and the answer may take long; or it is never sent.
      place.end()
      return isGood
    },
    end: place.end,
  }
}

interface HeldPlace {
  readonly current: () => Place
  readonly end: () => void
}

const fixed = ({ place }: Turn): HeldPlace => ({ current: () => place, end: () => undefined })

/** For a request whose connection took longer than a place lasts: it takes one place after the other until it is sent. */
function renewed(account: Account, { authUrl, place }: Turn, budget: RefreshBudget, context: Context): HeldPlace {
  const { runtime } = context
  let newest = place
  let isEnded = false
  const renew = async (): Promise<void> => {
    await new Promise<void>((resolve) => runtime.after(placeLife / 3, resolve))
    if (isEnded) return
    const next = await budget.place(authUrl, account, rankOf(account, context))
    if (isEnded) return budget.giveBack(authUrl, next)
    newest = next
    await renew()
  }
  // Where none is to be had the request is not sent, and that is told by the next turn.
  renew().catch(() => undefined)
  return { current: () => newest, end: () => void (isEnded = true) }
}
