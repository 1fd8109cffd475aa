/**
 * Single flight: one refresh at a time for one account in one process, however many callers there are.
 *
 * A caller's signal ends its own wait, never the refresh.
 */
import { onAbort } from '../support/abort.ts'
import { SsoTimeoutError, StoreError } from '../errors.ts'
import type { Flight, Known } from './account-memory.ts'
import type { Context } from './context.ts'
import { refresh } from './refresh.ts'

/** The refresh under way, or a new one. */
export function flightOf(known: Known, context: Context): Flight {
  return (known.flight ??= takeOff(known, context))
}

function takeOff(known: Known, context: Context): Flight {
  let looked: (() => void) | undefined
  const firstLook = new Promise<void>((resolve) => {
    looked = resolve
  })
  const land = (): void => {
    known.flight = undefined
    context.memory.release(known)
    looked?.()
  }
  const done = context.underWay.track(refresh(known, context, () => looked?.()).finally(land))
  done.catch((error: unknown) => {
    if (error instanceof StoreError) context.emit('refresh-failed', { account: known.account, error })
  })
  return { looked: firstLook, done }
}

/**
 * Waits for `work` no longer than the caller wants to, and keeps the process alive meanwhile.
 *
 * @throws SsoTimeoutError when the signal ends the wait
 */
export async function attended<Value>(
  work: Promise<Value>,
  signal: AbortSignal | undefined,
  { runtime }: Context,
): Promise<Value> {
  const release = runtime.keepAlive()
  try {
    return await (signal === undefined ? work : endedBy(signal, work))
  } finally {
    release()
  }
}

/** The same for the refresh of an account: whoever waits for it is counted, so that it is known whether anybody does. */
export async function awaited<Value>(
  known: Known,
  work: Promise<Value>,
  signal: AbortSignal | undefined,
  context: Context,
): Promise<Value> {
  known.callers += 1
  try {
    return await attended(work, signal, context)
  } finally {
    known.callers -= 1
  }
}

async function endedBy<Value>(signal: AbortSignal, work: Promise<Value>): Promise<Value> {
  let letGo: (() => void) | undefined
  const ended = new Promise<never>((_, reject) => {
    letGo = onAbort(signal, () =>
      reject(new SsoTimeoutError('The wait for an access token was ended by its signal.', fromManager)),
    )
  })
  try {
    return await Promise.race([work, ended])
  } finally {
    letGo?.()
  }
}

const fromManager = { step: 'token-manager', requestSent: false } as const
