/**
 * How a flow goes on: the steps that the rules are written in.
 */
import { StoreError } from '../errors.ts'
import type { Write } from '../store/lineage.ts'
import type { AccountRecord } from '../store/token-record.ts'
import type { Instant } from '../support/runtime.ts'
import { hostOf, type Knowledge, writeOf } from './knowledge.ts'
import type { Commit, Flow, Notice, Purpose, Step, Task } from './steps.ts'

export const go = (knowledge: Knowledge, next: Task, ...notices: readonly Notice[]): Step => ({
  knowledge,
  notices,
  next,
})

export const noted = (knowledge: Knowledge): Step => ({ knowledge, notices: [], next: { do: 'end', error: undefined } })

export function end(known: Knowledge, flow: Flow, error?: Error, ...notices: readonly Notice[]): Step {
  const knowledge = flow.kind === 'refresh' ? { ...known, isRefreshing: false } : known
  const { account } = known
  const ofStore: Notice[] =
    flow.kind === 'refresh' && error instanceof StoreError
      ? [{ tell: 'refresh-failed', event: { account, error } }]
      : []
  return { knowledge, notices: [...notices, ...ofStore], next: { do: 'end', error } }
}

/** What was to be told before comes first. */
export const after = (notices: readonly Notice[], next: Step): Step => ({
  ...next,
  notices: [...notices, ...next.notices],
})

export function look(known: Knowledge, flow: Flow, ...notices: readonly Notice[]): Step {
  const host = flow.kind === 'refresh' ? hostOf(known) : undefined
  return go(known, { do: 'look', flow, host, upon: writeOf(known) }, ...notices)
}

export const read = (known: Knowledge, flow: Flow, commit?: Commit): Step => go(known, { do: 'read', flow, commit })

export function swap(
  known: Knowledge,
  flow: Flow,
  over: Write | undefined,
  record: AccountRecord,
  purpose: Purpose,
  { writeId, forgetOlder = false }: { readonly writeId?: string; readonly forgetOlder?: boolean } = {},
): Step {
  return go(known, { do: 'swap', flow, over, record, writeId, forgetOlder, purpose })
}

/** What errors of the token manager's own have in common. */
export const fromManager = { step: 'token-manager', requestSent: false } as const

/** Seconds since the epoch. */
export const seconds = ({ wall }: Instant): number => Math.floor(wall / 1000)
