/**
 * The rest after a refresh that failed without spending the token: the service is asked again only after a while, by this
 * process. It keeps a broken network or a wrong configuration from becoming a storm of requests.
 */
import type { SsoError } from '../errors.ts'
import type { Known } from './account-memory.ts'
import { accessTokenOf } from './account-memory.ts'
import type { Context } from './context.ts'
import { longestRest } from './pace.ts'
import { restingRejection } from './rejection.ts'
import { elapsed, instantOf } from './runtime.ts'

/** Begins a rest of `minRefreshInterval`, twice as long after each failure in a row, up to eight minutes. */
export function rest(known: Known, error: SsoError, { minRefreshInterval, runtime }: Context): void {
  const failures = (known.rest?.failures ?? 0) + 1
  const wait = Math.min(minRefreshInterval * 2 ** (failures - 1), longestRest)
  known.rest = { since: instantOf(runtime), wait, failures, error }
}

/** @throws SsoError the failure that the rest follows. A caller of `refresh()` waits `minRefreshInterval` at most. */
export function refuseWhileResting(known: Known, { minRefreshInterval, runtime }: Context): void {
  const asked = known.unwanted !== undefined && known.unwanted === accessTokenOf(known.record)
  const wallClock = runtime.wallClock()
  const rejected =
    known.record?.state === 'signed-in' && restingRejection(known.record, { minRefreshInterval, wallClock, asked })
  if (rejected) throw rejected
  if (known.rest === undefined) return
  const { since, wait, error } = known.rest
  if (elapsed(since, instantOf(runtime)) < (asked ? Math.min(wait, minRefreshInterval) : wait)) throw error
}
