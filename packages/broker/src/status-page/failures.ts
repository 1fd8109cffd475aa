/**
 * What went wrong lately, for the person who looks: kept in this process's memory.
 */
import type { TokenManager } from '@owner-sso/core'

export interface Failure {
  /** Seconds since the epoch of the last time. */
  readonly at: number
  readonly what: string
  readonly account?: string | undefined
  readonly count: number
}

/** Entries, and seconds that one is shown. */
const [most, memory] = [10, 7 * 86_400]

export interface Failures {
  readonly list: () => readonly Failure[]
  readonly note: (what: string, account?: string) => void
  readonly close: () => void
}

export function failuresOf(tokens: Pick<TokenManager, 'on'>): Failures {
  let failures: readonly Failure[] = []
  const list = (): readonly Failure[] => failures.filter(({ at }) => at > Date.now() / 1000 - memory)
  const note = (what: string, account?: string): void => {
    const isSame = (other: Failure): boolean => other.what === what && other.account === account
    const count = (list().find(isSame)?.count ?? 0) + 1
    const others = list().filter((other) => !isSame(other))
    failures = [{ at: Date.now() / 1000, what, account, count }, ...others].slice(0, most)
  }
  const stops = [
    tokens.on('refresh-failed', ({ account, error }) => note(error.message, account)),
    tokens.on('unsaved', ({ account, error }) => note(error.message, account)),
    tokens.on('blocked', ({ account }) => note('The service’s firewall blocks this client for a while.', account)),
    tokens.on('client-rejected', ({ error }) => note(error.message)),
    tokens.on('not-refreshed', ({ account }) => note('Nobody refreshes this account in time.', account)),
  ]
  return {
    list,
    note,
    close: () => {
      for (const stop of stops) stop()
    },
  }
}
