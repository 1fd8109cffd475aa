/**
 * The refresh in flight: one refresh at a time for one account in one process, however many callers there are.
 *
 * A caller's signal ends its own wait, never the refresh.
 */
import { type SsoError, SsoTimeoutError } from '../errors.ts'
import { unlessAborted } from '../support/abort.ts'
import type { Runtime } from '../support/runtime.ts'
import { type Account, type AccountMemory, type Flight, unsavedUntil } from './account-memory.ts'
import type { Context } from './context.ts'
import { momentOf, note, run } from './driver.ts'
import { isUsable } from './knowledge.ts'
import { inDoubt, isHeldUp } from './pace.ts'
import { fromManager } from './steps.ts'

export function inFlightRefresh(account: Account, context: Context): Flight {
  if (account.flight !== undefined) return account.flight
  const begun = (account.flight = start(account, context))
  context.work.handOver(() => landing(account))
  return begun
}

function start(account: Account, context: Context): Flight {
  let onLooked: (() => void) | undefined
  const synced = new Promise<void>((resolve) => {
    onLooked = resolve
  })
  const finish = (): void => {
    context.gates.leave(account)
    account.flight = undefined
    context.memory.release(account)
    onLooked?.()
  }
  const began = context.runtime.monotonicClock()
  const refresh = run(account, { kind: 'refresh', began }, context, () => onLooked?.()).finally(finish)
  const done = context.work.track(refresh)
  done.catch(() => undefined)
  return { synced, done }
}

/**
 * Refreshes where the record says that the owner API refuses its access token: whoever leaves refreshes to others can do no more
 * than note that.
 */
export async function refreshIfRefused(account: Account, context: Context): Promise<void> {
  const { record } = account.knowledge
  if (record?.state !== 'signed-in' || record.refusals?.thisOne !== true || context.work.isEnding()) return
  await run(account, { kind: 'invalidate', accessToken: record.tokens.access_token, mayRefresh: true }, context)
  if (!isUsable(account.knowledge, momentOf(context))) await inFlightRefresh(account, context).done
}

/** Waits for `work` no longer than the caller wants to, and keeps the process alive meanwhile. @throws what `ended` makes */
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
  context.gates.hurry(account)
  try {
    return await waitForAccount(account, work, signal, context)
  } finally {
    note(account, { on: 'caller-left' }, context)
    const isLast = account.knowledge.callers === 0
    if (!context.work.settings.outlivesCalls && isLast) await landInCall(account, context, work)
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

const endedBySignal = (): SsoTimeoutError =>
  new SsoTimeoutError('The signal ended the wait for an access token.', fromManager)

// The landing: nothing of a refresh is left that this process alone holds

export async function allSafe({ all }: Pick<AccountMemory, 'all'>): Promise<void> {
  await Promise.all(Array.from(all(), async (account) => unsavedUntil(account)))
}

/** Milliseconds that a call waits for new tokens which the store refused: as long as for one call of the store. */
const patience = 10_000

/** Resolves when nothing of an account's refresh is left to freeze: its new tokens are in the store or in the spool. */
export async function landing(account: Account): Promise<void> {
  await account.flight?.done.catch(nothing)
  await unsavedUntil(account)
}

/** The same, as long as a call waits for it. */
export async function landingInCall(account: Account, { after }: Pick<Runtime, 'after'>): Promise<void> {
  await account.flight?.done.catch(nothing)
  const safe = unsavedUntil(account)
  if (safe === undefined) return
  let cancel: (() => void) | undefined
  const late = new Promise<void>((resolve) => {
    cancel = after(patience, resolve)
  })
  await Promise.race([safe, late])
  cancel?.()
}

const nothing = (): void => undefined
