/**
 * The refresh in flight: one refresh at a time for one account in one process, however many callers there are.
 *
 * A caller's signal ends its own wait, never the refresh.
 */
import { unlessAborted } from '../support/abort.ts'
import { type SsoError, SsoTimeoutError, StoreError } from '../errors.ts'
import type { InFlightRefresh, AccountCache } from './account-memory.ts'
import { landing, landingInCall } from './background.ts'
import type { Context } from './context.ts'
import { inDoubt, isHeldUp } from './doubt.ts'
import { refresh } from './refresh.ts'
import { hurry } from './turn.ts'

/** The refresh under way, or a new one. */
export function inFlightRefresh(cache: AccountCache, context: Context): InFlightRefresh {
  if (cache.inFlight !== undefined) return cache.inFlight
  const begun = (cache.inFlight = start(cache, context))
  context.background.handOver(() => landing(cache))
  return begun
}

function start(cache: AccountCache, context: Context): InFlightRefresh {
  let synced: (() => void) | undefined
  const firstSync = new Promise<void>((resolve) => {
    synced = resolve
  })
  const finish = (): void => {
    cache.inFlight = undefined
    context.memory.release(cache)
    synced?.()
  }
  const done = context.underWay.track(refresh(cache, context, () => synced?.()).finally(finish))
  done.catch((error: unknown) => {
    if (error instanceof StoreError) context.emit('refresh-failed', { account: cache.account, error })
  })
  return { synced: firstSync, done }
}

/**
 * Waits for `work` no longer than the caller wants to, and keeps the process alive meanwhile.
 *
 * @param ended - what the caller hears when the signal ends the wait
 * @throws SsoTimeoutError then, if nothing else is given
 */
export async function waitFor<Value>(
  work: Promise<Value>,
  signal: AbortSignal | undefined,
  { runtime }: Context,
  ended: () => SsoError = endedBySignal,
): Promise<Value> {
  const release = runtime.keepAlive()
  try {
    return await (signal === undefined ? work : unlessAborted(work, signal, ended))
  } finally {
    release()
  }
}

/**
 * Like {@link waitFor}, for the refresh of an account: its callers are counted, so that it is known whether anybody waits. Where
 * nothing may outlive the calls, the last of them sees the refresh land, whatever its signal says.
 */
export async function waitForRefresh<Value>(
  cache: AccountCache,
  work: Promise<Value>,
  signal: AbortSignal | undefined,
  context: Context,
): Promise<Value> {
  cache.callers += 1
  hurry(cache, context)
  try {
    return await waitForAccount(cache, work, signal, context)
  } finally {
    cache.callers -= 1
    if (!context.background.outlivesCalls && cache.callers === 0) await landInCall(cache, context, work)
  }
}

/**
 * Like {@link waitFor}, for an account.
 *
 * @throws RefreshInDoubtError when the signal ends a wait for a record that was put back: it tells how long that takes
 */
export const waitForAccount = <Value>(
  cache: AccountCache,
  work: Promise<Value>,
  signal: AbortSignal | undefined,
  context: Context,
): Promise<Value> =>
  waitFor(work, signal, context, () => (isHeldUp(cache, context) ? inDoubt(cache, context) : endedBySignal()))

/** Sees land what this call began, and needs no more. @param work - what may yet begin a refresh */
export async function landInCall(cache: AccountCache, context: Context, work?: Promise<unknown>): Promise<void> {
  const landed = async (): Promise<void> => {
    await work?.catch(() => undefined)
    await landingInCall(cache, context.runtime)
  }
  await waitFor(landed(), undefined, context)
}

const fromManager = { step: 'token-manager', requestSent: false } as const

const endedBySignal = (): SsoTimeoutError =>
  new SsoTimeoutError('The signal ended the wait for an access token.', fromManager)
