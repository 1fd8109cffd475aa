/**
 * The refresh in flight: one refresh at a time for one account in one process, however many callers there are.
 *
 * A caller's signal ends its own wait, never the refresh.
 */
import { unlessAborted } from '../support/abort.ts'
import { type SsoError, SsoTimeoutError } from '../errors.ts'
import type { Account, Flight } from './account-memory.ts'
import { landing, landingInCall } from './background.ts'
import type { Context } from './context.ts'
import { momentOf, note, run } from './driver.ts'
import { inDoubt, isHeldUp } from './pace.ts'
import { hurry, leaveTurn } from '../gates/budget/turn.ts'

/** The refresh under way, or a new one. */
export function inFlightRefresh(account: Account, context: Context): Flight {
  if (account.flight !== undefined) return account.flight
  const begun = (account.flight = start(account, context))
  context.background.handOver(() => landing(account))
  return begun
}

function start(account: Account, context: Context): Flight {
  let onLooked: (() => void) | undefined
  const synced = new Promise<void>((resolve) => {
    onLooked = resolve
  })
  const finish = (): void => {
    leaveTurn(account, context)
    account.flight = undefined
    context.memory.release(account)
    onLooked?.()
  }
  const began = context.runtime.monotonicClock()
  const refresh = run(account, { kind: 'refresh', began }, context, () => onLooked?.()).finally(finish)
  const done = context.underWay.track(refresh)
  done.catch(() => undefined)
  return { synced, done }
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
  account: Account,
  work: Promise<Value>,
  signal: AbortSignal | undefined,
  context: Context,
): Promise<Value> {
  note(account, { on: 'caller-came' }, context)
  hurry(account, context)
  try {
    return await waitForAccount(account, work, signal, context)
  } finally {
    note(account, { on: 'caller-left' }, context)
    const isLast = account.knowledge.callers === 0
    if (!context.background.outlivesCalls && isLast) await landInCall(account, context, work)
  }
}

/**
 * Like {@link waitFor}, for an account.
 *
 * @throws RefreshInDoubtError when the signal ends a wait for a record that was put back: it tells how long that takes
 */
export const waitForAccount = <Value>(
  account: Account,
  work: Promise<Value>,
  signal: AbortSignal | undefined,
  context: Context,
): Promise<Value> =>
  waitFor(work, signal, context, () => {
    const now = momentOf(context)
    return isHeldUp(account.knowledge, now) ? inDoubt(account.knowledge, now) : endedBySignal()
  })

/** Sees land what this call began, and needs no more. @param work - what may yet begin a refresh */
export async function landInCall(account: Account, context: Context, work?: Promise<unknown>): Promise<void> {
  const landed = async (): Promise<void> => {
    await work?.catch(() => undefined)
    await landingInCall(account, context.runtime)
  }
  await waitFor(landed(), undefined, context)
}

const fromManager = { step: 'token-manager', requestSent: false } as const

const endedBySignal = (): SsoTimeoutError =>
  new SsoTimeoutError('The signal ended the wait for an access token.', fromManager)
