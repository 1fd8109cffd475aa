/**
 * The channels of `node:diagnostics_channel`: `owner-sso:token`, each access token that a caller gets; `owner-sso:account`, what is
 * new of an account; and the tracing channel `owner-sso:refresh`, each refresh request: which, why, where and how it ended, never
 * what came of it. Free when nobody listens.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { channel, tracingChannel } from 'node:diagnostics_channel'
import type { Instant } from '../support/runtime.ts'
import { accessTokenOf, type Knowledge, type RefreshNeed, refreshNeed } from './knowledge.ts'

export interface ServedToken {
  readonly account: string
}

export interface AccountNews {
  readonly account: string
  /** When its access token ends: seconds since the epoch. Absent where there is none, or this process remembers the account no more. */
  readonly expires_at?: number
  /** Callers that wait for its refresh in this process. */
  readonly waiting: number
}

const served = channel('owner-sso:token')
const accounts = channel('owner-sso:account')

export function told<Answer>(account: string, answer: Promise<Answer>): Promise<Answer> {
  if (served.hasSubscribers) {
    const tell = (): void => served.publish({ account } satisfies ServedToken)
    answer.then(tell, () => undefined)
  }
  return answer
}

/** Node ends the process whose subscriber throws: nothing is told while it may hold the only copy of new tokens. */
export function tellOf({ account, record, callers, unsaved }: Knowledge): void {
  if (!accounts.hasSubscribers || unsaved !== undefined) return
  const hasToken = record !== undefined && record.state !== 'signed-out' && accessTokenOf(record) !== undefined
  const end = hasToken && { expires_at: record.obtained_at + record.lifetime }
  accounts.publish({ account, waiting: callers, ...end } satisfies AccountNews)
}

export function tellForgotten(account: string): void {
  if (accounts.hasSubscribers) accounts.publish({ account, waiting: 0 } satisfies AccountNews)
}

/** What subscribers of `owner-sso:refresh` are given. Node adds `result`, the word `tokens`, or `error`, an SsoError. */
export interface RefreshTrace {
  readonly account: string
  readonly auth_url: string
  readonly reason: RefreshReason
  readonly replay: boolean
}

/** Why it was made: the keeper's sweep, or as the record tells it. */
export type RefreshReason = 'keeper' | RefreshNeed

export interface TracedRefresh<Outcome> {
  readonly outcome: Promise<Outcome>
  /** Calls what is done with the answer, so that it counts as a part of the refresh. */
  readonly within: <Result>(call: () => Result) => Result
  /** What came of the request was put where it belongs: the trace ends, once new tokens are safe as well. */
  readonly endAfter: (safe: Promise<void> | undefined) => void
}

const refreshes = tracingChannel<unknown, RefreshTrace>('owner-sso:refresh')

/**
 * Makes a refresh request on the channel `owner-sso:refresh`. Its end is published only after the new tokens have been stored:
 * Node ends the process whose subscriber throws, and until then the only copy may be in its memory.
 */
export function traceRefresh<Outcome extends { readonly kind: 'tokens' } | { readonly error: Error }>(
  message: () => RefreshTrace,
  request: () => Promise<Outcome>,
): TracedRefresh<Outcome> {
  const untraced = { within: <Result>(call: () => Result): Result => call(), endAfter: () => undefined }
  if (!refreshes.hasSubscribers) return { outcome: request(), ...untraced }
  let end: TracedRefresh<Outcome>['endAfter'] | undefined
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  let { within } = untraced
  let outcome: Promise<Outcome> | undefined
  const published = async (): Promise<'tokens'> => {
    within = AsyncLocalStorage.snapshot()
    outcome = request()
    const result = await outcome
    await ended
    if ('error' in result) throw result.error
    return 'tokens'
  }
  refreshes.tracePromise(published, message()).catch(() => undefined)
  return { outcome: outcome ?? request(), within, endAfter: (safe) => end?.(safe) }
}

export function reasonOf(knowledge: Knowledge, isKeepersTurn: boolean, now: Instant): RefreshReason {
  const need = refreshNeed(knowledge, now)
  return need === 'asked' && isKeepersTurn ? 'keeper' : need
}
