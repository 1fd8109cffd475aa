/**
 * The accounts that this process remembers: what it knows of each, what is under way for it, and the access token for the hot
 * path.
 */
import { accessTokenOf, type Knowledge, nothingKnown } from './knowledge.ts'
import { recentEntries } from '../support/recent-entries.ts'
import type { Instant } from '../support/runtime.ts'
import { tellForgotten } from './traces.ts'

/**
 * An access token that is returned without another check. These are small objects apart from all else that is known of an
 * account, and none of their fields is a fraction: with a million accounts, each additional memory access is slow.
 */
export interface Served {
  accessToken: string
  /** Seconds of the wall clock between which it is returned. */
  readonly from: number
  until: number
}

export interface Account {
  readonly name: string
  /** Replaced by `know` alone. */
  knowledge: Knowledge
  flight: Flight | undefined
  /** Resolves when the death of this process would not lose its unsaved tokens any more; once the store has refused them. */
  safe: Promise<void> | undefined
  served: Served | undefined
  /** The keeper asks for its refresh. */
  isKeepersTurn: boolean
}

export interface Flight {
  /** The record was read once: what is stored may be enough already. */
  readonly synced: Promise<void>
  readonly done: Promise<void>
}

export interface AccountMemory {
  /** For the hot path: a look-up that does not count as a use. */
  served(account: string): Served | undefined
  serve(account: Account, served: Served): void
  /** What is known, if anything is; this does not count as a use. */
  peek(name: string): Account | undefined
  /** What is known, created if necessary, and counted as a use. */
  of(name: string): Account
  all(): Iterable<Account>
  /** To be called when a refresh or a commit has ended. */
  release(account: Account): void
}

/** @param size - accounts that are remembered; one with a refresh under way or unsaved tokens is never forgotten */
export function createAccountMemory(size: number): AccountMemory {
  const all = new Map<string, Account>()
  const served = new Map<string, Served>()
  const forget = (name: string): void => {
    all.delete(name)
    served.delete(name)
    tellForgotten(name)
  }
  // Apart from it, so that the hot path writes nothing: an account counts as used when its window is opened anew.
  const used = recentEntries<Account>(size, (account, name) => {
    if (!isBusy(account)) forget(name)
  })
  return {
    served: (name) => served.get(name),
    serve(account, next) {
      account.served = next
      served.set(account.name, next)
    },
    peek: (name) => all.get(name),
    of(name) {
      const account = all.get(name) ?? unknown(name)
      all.set(name, account)
      used.set(name, account)
      return account
    },
    all: () => all.values(),
    release(account) {
      // Another may have taken its place since a call began with it.
      if (!isBusy(account) && !used.has(account.name) && all.get(account.name) === account) forget(account.name)
    },
  }
}

const isBusy = ({ flight, knowledge }: Account): boolean => flight !== undefined || knowledge.unsaved !== undefined

const unknown = (name: string): Account => ({
  name,
  knowledge: nothingKnown(name),
  flight: undefined,
  safe: undefined,
  served: undefined,
  isKeepersTurn: false,
})

/** Resolves when no tokens of the account are held by this process alone. */
export const unsavedUntil = ({ knowledge, safe }: Account): Promise<void> | undefined =>
  knowledge.unsaved === undefined ? undefined : safe

export function know(account: Account, knowledge: Knowledge): void {
  const { seen, invalidated } = account.knowledge
  account.knowledge = knowledge
  if (knowledge.seen !== seen || knowledge.invalidated !== invalidated) closeWindow(account)
}

/** Milliseconds after which the hot path asks both clocks again, so that a jump of the wall clock is noticed. */
const longestWindow = 60_000

/** Lets the hot path serve the token after one reading of the wall clock: for so many milliseconds, a minute at most. */
export function openWindow(account: Account, now: Instant, milliseconds: number, memory: AccountMemory): void {
  memory.serve(account, {
    accessToken: accessTokenOf(account.knowledge.record) ?? '',
    from: Math.floor(now.wall / 1000),
    // Not beyond: a last second that is not whole is asked about.
    until: Math.floor((now.wall + Math.min(milliseconds, longestWindow)) / 1000),
  })
}

/** What was served is not kept: after a sign-out, no token of the account stays in memory. */
function closeWindow({ served }: Account): void {
  if (served !== undefined) Object.assign(served, { accessToken: '', until: 0 })
}
