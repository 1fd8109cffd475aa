/**
 * What went wrong lately, for the person who looks: at all instances that share the store, and before a restart. What the store
 * did not take, this instance remembers by itself.
 */
import { notebook, type Notes, type TokenManager, type TokenStore } from '@owner-sso/core'

export interface Failure {
  /** Seconds since the epoch of the last time. */
  readonly at: number
  /** Without a secret. */
  readonly what: string
  readonly account?: string | undefined
  /** How often lately. */
  readonly count: number
}

type Happened = Omit<Failure, 'count'>

/** Entries, and seconds that one is shown. */
const [most, memory] = [10, 7 * 86_400]

export interface Failures {
  /** The newest first. */
  readonly list: () => Promise<readonly Failure[]>
  readonly note: (what: string, account?: string) => void
  /** Stops listening. */
  readonly close: () => void
}

export function failuresOf(tokens: Pick<TokenManager, 'on'>, store: TokenStore): Failures {
  const notes = notebook(store, 'failures')
  let own: readonly Failure[] = []
  const note = (what: string, account?: string): void => {
    const failure = { at: Date.now() / 1000, what, account }
    own = withFailure(own, failure)
    notes.change((all) => ({ failures: withFailure(failuresIn(all), failure) })).catch(() => undefined)
  }
  const stops = [
    tokens.on('refresh-failed', ({ account, error }) => note(error.message, account)),
    tokens.on('unsaved', ({ account, error }) => note(error.message, account)),
    tokens.on('blocked', ({ account }) => note('The service’s firewall blocks this client for a while.', account)),
  ]
  return {
    async list() {
      const shared = await notes.read().then(failuresIn, () => [])
      const others = own.filter((each) => !shared.some((one) => isSame(one, each)))
      return newest([...shared, ...others])
    },
    note,
    close: () => {
      for (const stop of stops) stop()
    },
  }
}

function isSame(one: Happened, other: Happened): boolean {
  return one.what === other.what && one.account === other.account
}

/** The same one again is counted. */
function withFailure(failures: readonly Failure[], failure: Happened): readonly Failure[] {
  const before = failures.find((each) => isSame(each, failure))?.count ?? 0
  return newest([{ ...failure, count: before + 1 }, ...failures.filter((each) => !isSame(each, failure))])
}

function newest(failures: readonly Failure[]): readonly Failure[] {
  const since = Date.now() / 1000 - memory
  return failures
    .filter(({ at }) => at > since)
    .toSorted((one, other) => other.at - one.at)
    .slice(0, most)
}

function failuresIn({ failures }: Notes): readonly Failure[] {
  return Array.isArray(failures) ? failures.filter(isFailure) : []
}

function isFailure(value: unknown): value is Failure {
  if (typeof value !== 'object' || value === null) return false
  const { at, what, account, count }: Partial<Record<keyof Failure, unknown>> = value
  const isNamed = account === undefined || typeof account === 'string'
  return typeof at === 'number' && typeof what === 'string' && isNamed && typeof count === 'number'
}
