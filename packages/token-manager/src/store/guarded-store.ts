/**
 * The store as the protocol uses it: whatever it throws, callers get a `StoreError` without anything of a record in it, and
 * one that does not answer is given up.
 */
import { tracingChannel } from 'node:diagnostics_channel'
import { StoreError } from '../errors.ts'
import type { TokenRecord } from './token-record.ts'
import { storableTokenSet } from '../issuer/token-set.ts'
import type { Conflict, SwapOptions, TokenStore, Versioned } from './token-store.ts'
import type { RefreshResult, Write } from './lineage.ts'
import { awaitedPause, type Runtime } from '../support/runtime.ts'
import { answeredInTime } from '../support/time-limit.ts'
import { isStore, whatCame } from '../support/options.ts'

/** What subscribers of the tracing channel `owner-sso:store` are given. Node adds `error`, a StoreError, where it failed. */
export interface StoreTrace {
  readonly operation: 'read' | 'swap'
}

const calls = tracingChannel<unknown, StoreTrace>('owner-sso:store')

/**
 * Milliseconds that a store may take for one call. A write that is given up may be carried out later: it is repeated with
 * the same id, or meets another version.
 */
const storeTimeout = 10_000

type Limit = Runtime['limit']
type Failure = 'unavailable' | 'write-failed'

export interface GuardedStore extends Omit<TokenStore, 'read' | 'swap'> {
  /** The store itself, where this one keeps something beside it. */
  readonly beneath?: GuardedStore
  read(account: string, options?: Brought): Promise<Versioned | undefined>
  /** @param over - what was read there, all of it: a version alone may be another write's by now. Nothing where nothing was */
  swap(
    account: string,
    over: Write | undefined,
    next: TokenRecord,
    writeId: string,
    options?: Pick<SwapOptions, 'forgetOlder'> & Brought,
  ): Promise<Versioned | Conflict>
}

/** What a call is about, where this process alone has it: a store that has a second place for it keeps it there. */
export interface Brought {
  readonly result?: RefreshResult
}

const safe = new WeakSet<StoreError>()

/** Whether what a failed call was about outlives this process all the same. */
export const isSafe = (error: StoreError): boolean => safe.has(error)
export function asSafe({ reason, message, cause, unread }: StoreError): StoreError {
  const error = new StoreError(reason, message, { cause, unread })
  safe.add(error)
  return error
}

/** @param limit - how a time limit is kept; without it a call may take for ever */
export function guardStore(store: TokenStore, limit: Limit, name = 'store'): GuardedStore {
  if (!isStore(store)) throw new TypeError(`${name} must be a token store${whatCame(store)}`)
  return {
    read: (account) => traced('read', () => typed('unavailable', limit, () => store.read(account))),
    swap: (account, { version, writeId: expectedWriteId } = { version: 0 }, next, writeId, { forgetOlder } = {}) => {
      const all = { ...(forgetOlder && { forgetOlder }), ...(expectedWriteId !== undefined && { expectedWriteId }) }
      return traced('swap', () =>
        typed('write-failed', limit, () => store.swap(account, version, plainRecord(next), writeId, all)),
      )
    },
    ...(store.accounts && { accounts: () => steps(store, limit) }),
    ...(store.watch && { watch: store.watch.bind(store) }),
  }
}

/** Not every store writes JSON: whichever way it goes through a record's fields, the tokens are among them. */
function plainRecord(record: TokenRecord): TokenRecord {
  if (!('tokens' in record)) return record
  const { tokens, predecessor } = record
  const plain = { ...record, tokens: storableTokenSet(tokens) }
  if (!predecessor) return plain
  return { ...plain, predecessor: { ...predecessor, tokens: storableTokenSet(predecessor.tokens) } }
}

async function* steps(store: TokenStore, limit: Limit): AsyncGenerator<string> {
  const iterator = await typed('unavailable', limit, async () => store.accounts?.()[Symbol.asyncIterator]())
  if (iterator === undefined) return
  let ended = false
  try {
    for (;;) {
      const step = await typed('unavailable', limit, () => iterator.next())
      ended = step.done === true
      if (step.done === true) return
      yield step.value
    }
  } finally {
    // Not awaited: it waits for the step that did not answer.
    if (!ended) void Promise.resolve(iterator.return?.()).catch(() => undefined)
  }
}

/** Makes a call on the channel `owner-sso:store`, which tells nothing of what was read or written. Free when nobody listens. */
function traced<Value>(operation: StoreTrace['operation'], call: () => Promise<Value>): Promise<Value> {
  if (!calls.hasSubscribers) return call()
  return new Promise((resolve, reject) => {
    calls.tracePromise(async () => resolve(await call()), { operation }).catch(reject)
  })
}

async function typed<Value>(reason: Failure, limit: Limit, operation: () => Promise<Value>): Promise<Value> {
  try {
    const late = (): Error => new StoreError(reason, 'The token store did not answer within ten seconds.')
    return await (limit === undefined ? operation() : answeredInTime(storeTimeout, operation, late, limit))
  } catch (error) {
    if (error instanceof StoreError) throw error
    throw new StoreError(reason, 'The token store failed.', { cause: error })
  }
}

/** So many changes by others, each between a read and a swap, are no coincidence. */
export const mostConflicts = 32
/** Milliseconds until each further try: a replica has some three seconds to catch up. */
export const pauses: readonly number[] = [50, 100, 200, 400, 800, 1600]

/** Repeats a read and its swap until that comes to something: `tryOnce` answers nothing for a conflict. @throws StoreError `busy` */
export async function untilSwapped<Value>(
  runtime: Pick<Runtime, 'after' | 'keepAlive'>,
  tryOnce: () => Promise<Value | undefined>,
): Promise<Value> {
  for (let conflicts = 0; ;) {
    const value = await tryOnce()
    if (value !== undefined) return value
    conflicts += 1
    if (conflicts < mostConflicts) continue
    const wait = pauses[conflicts - mostConflicts]
    if (wait === undefined) throw tooManyConflicts()
    await awaitedPause(runtime, wait)
  }
}

export function tooManyConflicts(): StoreError {
  return new StoreError(
    'busy',
    'Every write to the token store ended in a conflict: others keep changing the record, or its reads lag behind its writes.',
  )
}
