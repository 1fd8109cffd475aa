/**
 * What went wrong lately, for the person who looks: of this instance, since it started.
 */
import type { TokenManager } from '@owner-sso/core'

export interface Failure {
  /** Seconds since the epoch of the last time. */
  readonly at: number
  /** Without a secret. */
  readonly what: string
  readonly account?: string | undefined
  /** How often in a row. */
  readonly count: number
}

const most = 10

export interface Failures {
  /** The newest first. */
  readonly list: () => readonly Failure[]
  readonly note: (what: string, account?: string) => void
  /** Stops listening. */
  readonly close: () => void
}

export function failuresOf(tokens: Pick<TokenManager, 'on'>): Failures {
  let noted: readonly Failure[] = []
  const note = (what: string, account?: string): void => {
    const [last, ...older] = noted
    const isSame = last !== undefined && last.what === what && last.account === account
    const count = isSame ? last.count + 1 : 1
    const rest = isSame ? older : noted
    noted = [{ at: Date.now() / 1000, what, account, count }, ...rest].slice(0, most)
  }
  const stops = [
    tokens.on('refresh-failed', ({ account, error }) => note(error.message, account)),
    tokens.on('in-doubt', ({ account }) => note('The answer to a refresh was lost. It is asked for again.', account)),
    tokens.on('unsaved', ({ account, error }) => note(error.message, account)),
    tokens.on('blocked', ({ account }) => note('The service’s firewall blocks this client for a while.', account)),
    tokens.on('reauthentication-required', ({ account }) => note('The owner has to sign in again.', account)),
  ]
  return {
    list: () => noted,
    note,
    close: () => {
      for (const stop of stops) stop()
    },
  }
}
