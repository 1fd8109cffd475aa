/**
 * The channels `owner-sso:token` and `owner-sso:account` of `node:diagnostics_channel`: each access token that a caller gets,
 * and what is new of an account. Free when nobody listens.
 */
import { channel } from 'node:diagnostics_channel'
import { accessTokenOf, type Knowledge } from './knowledge.ts'

/** What subscribers of `owner-sso:token` are given. */
export interface ServedToken {
  readonly account: string
}

/** What subscribers of `owner-sso:account` are given. */
export interface AccountNews {
  readonly account: string
  /** When its access token ends: seconds since the epoch. Absent where there is none, or this process remembers the account no more. */
  readonly expires_at?: number
  /** Callers that wait for its refresh in this process. */
  readonly waiting: number
}

const served = channel('owner-sso:token')
const accounts = channel('owner-sso:account')

/** Tells of the access token that a call gets. */
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

/** This process does not remember the account any more. */
export function tellForgotten(account: string): void {
  if (accounts.hasSubscribers) accounts.publish({ account, waiting: 0 } satisfies AccountNews)
}
