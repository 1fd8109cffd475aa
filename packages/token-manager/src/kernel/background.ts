/**
 * What may go on after the call that needed it has returned. On a server anything may. A function is frozen between two
 * requests, and what is half-way then stays half-way, for hours.
 */
import { callSafely } from '../support/callback-fault.ts'
import { type Account, type AccountMemory, unsavedUntil } from './account-memory.ts'
import type { Runtime } from '../support/runtime.ts'

export interface Background {
  /** Refreshes may go on after the call that began them. */
  readonly outlivesCalls: boolean
  /** The process runs between calls, so that timers of ours do. */
  readonly runsBetweenCalls: boolean
  /** Tells the platform of work that the call which began it does not wait for. */
  readonly handOver: (work: () => Promise<unknown>) => void
}

/**
 * @param outlivesCalls - the option `background`
 * @param waitUntil - the platform's way to keep the process running until a promise has settled
 */
export function backgroundOf(
  outlivesCalls: boolean,
  waitUntil: ((work: Promise<unknown>) => void) | undefined,
): Background {
  return {
    outlivesCalls,
    runsBetweenCalls: outlivesCalls && waitUntil === undefined,
    handOver(work) {
      // The platform is not to hear of a failure: whoever needs the token does.
      if (waitUntil !== undefined) callSafely('waitUntil', () => waitUntil(work().then(nothing, nothing)))
    },
  }
}

/** Resolves when no account's new tokens are held by this process alone. */
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
