/**
 * The accounts of a store, and copying their token sets into another one.
 */
import { randomUUID } from 'node:crypto'
import { checkOptionNames } from '../support/options.ts'
import { startTimeLimit } from '../support/time-limit.ts'
import type { TokenStore, Versioned } from './token-store.ts'
import { type GuardedStore, guardStore, untilSwapped } from './guarded-store.ts'
import { withEvent } from './history.ts'
import { isBehind, type Write } from './lineage.ts'
import { checkedRecord } from './record-check.ts'
import { accountRecord, isDamaged, mayBeOfOneRecord } from './read-record.ts'
import { isBegunAnew, isOfOneStore, isOwnRecordName } from './own-record.ts'
import { systemRuntime } from '../support/runtime.ts'

/**
 * Copies all that a fleet lives by into another store: the newest record of every account, and the records of our own
 *. Accounts go as they are, tombstones and refreshes in doubt included; one that the target has a newer
 * version of stays. Nothing may refresh through `from` any more. To change the key of a store, use `rekey`.
 *
 * @returns how many accounts were written
 * @throws TypeError if `from` can't list its accounts
 * @throws StoreError where either can't be read or written, `wrong-key` for records that are sealed with another key than
 *   was given. A record that can't be read, or written, is passed over, and its error comes after all others were copied; a
 *   store that can't be reached ends it at once. What was copied stays, and a repetition is harmless
 */
export async function copyTokenSets(from: TokenStore, to: TokenStore, options: CopyOptions = {}): Promise<number> {
  checkOptionNames('copyTokenSets', options, { onLeft: true })
  const { onLeft } = options
  if (onLeft !== undefined && typeof onLeft !== 'function') throw new TypeError('onLeft must be a function')
  let copied = 0
  let failure: unknown
  const source = guardStore(from, startTimeLimit, 'from')
  const target = guardStore(to, startTimeLimit, 'to')
  for await (const name of namesOf(source)) {
    try {
      if (isOwnRecordName(name)) {
        if ((await copyOwnRecord(name, source, target)) === 'left') onLeft?.(name)
      } else if (await copyRecord(name, source, target)) copied += 1
    } catch (error) {
      if (!mayBeOfOneRecord(error)) throw error
      failure ??= error
    }
  }
  if (failure !== undefined) throw failure
  return copied
}

/** What `copyTokenSets` takes in addition. */
export interface CopyOptions {
  /** Called with the name of each record of notes, such as a broker's clients, that stays behind: the target has its own. */
  readonly onLeft?: ((name: string) => void) | undefined
}

async function copyRecord(account: string, from: GuardedStore, to: GuardedStore): Promise<boolean> {
  const source = accountRecord(await from.read(account))
  if (source === undefined) return false
  const by = { wall: systemRuntime.wallClock(), holder: systemRuntime.holder }
  const copy = withEvent(source.record, { what: 'copied' }, by)
  const writeId = randomUUID()
  return untilSwapped(systemRuntime, async () => {
    const target = accountRecord(await to.read(account))
    if (target !== undefined && !isBehind(target, source)) return false
    const swapped = await to.swap(account, target, copy, writeId)
    return 'conflict' in swapped ? undefined : true
  })
}

/** Begins the names of the writes of a copy: what nobody has written over since may be copied again. */
const byCopy = 'copied '

/**
 * A record of our own: a block that lasts, a broker's clients, who was told what.
 *
 * @returns `left` for notes that the target has others of: those stay
 * @throws StoreError for notes that can't be read, or a record that can't be written
 */
async function copyOwnRecord(name: string, from: GuardedStore, to: GuardedStore): Promise<'copied' | 'left'> {
  const source = isOfOneStore(name) ? undefined : await readable(name, from)
  if (source?.record === undefined) return 'copied'
  const { record } = source
  const writeId = byCopy + systemRuntime.uniqueId()
  return untilSwapped(systemRuntime, async () => {
    const target = await readable(name, to)
    if (target?.record !== undefined) {
      if (JSON.stringify(target.record) === JSON.stringify(record)) return 'copied'
      if (target.writeId?.startsWith(byCopy) !== true) return isBegunAnew(name) ? 'copied' : 'left'
    }
    const swapped = await to.swap(name, target, record, writeId)
    return 'conflict' in swapped ? undefined : 'copied'
  })
}

/** Without a record: one stands there that can't be read, and may be written over. */
async function readable(
  name: string,
  store: GuardedStore,
): Promise<(Write & { readonly record?: Versioned['record'] }) | undefined> {
  try {
    const stored = await store.read(name)
    return stored && checkedRecord(stored, 'firewall', 'refresh-budget', 'tries', 'refresh-tokens', 'notes')
  } catch (error) {
    if (isDamaged(error) && isBegunAnew(name) && error.unread !== undefined) return error.unread
    throw error
  }
}

/**
 * The names of all accounts that are not signed out.
 *
 * @throws TypeError if the store can't list them; StoreError, after all names that can be told, where a record can't be read
 */
export async function* accountsOf(store: GuardedStore): AsyncGenerator<string> {
  let failure: unknown
  for await (const accounts of chunks(listOf(store), together)) {
    const looks = await Promise.allSettled(accounts.map((account) => store.read(account).then(accountRecord)))
    for (const [index, look] of looks.entries()) {
      if (look.status === 'rejected') failure ??= look.reason
      else if (look.value !== undefined && look.value.record.state !== 'signed-out') yield accounts[index] ?? ''
    }
  }
  if (failure !== undefined) throw failure
}

/** Records that a listing reads side by side: one after the other, each would wait for a round trip. */
const together = 100

/** What came before an error comes before it here as well. */
export async function* chunks<Value>(values: AsyncIterable<Value>, size: number): AsyncGenerator<Value[]> {
  let chunk: Value[] = []
  let failure: { readonly error: unknown } | undefined
  try {
    for await (const value of values) {
      chunk.push(value)
      if (chunk.length < size) continue
      yield chunk
      chunk = []
    }
  } catch (error) {
    failure = { error }
  }
  if (chunk.length > 0) yield chunk
  if (failure !== undefined) throw failure.error
}

/** The names of all accounts that have a record. @throws TypeError if the store can't list them */
export async function* listOf(store: GuardedStore): AsyncGenerator<string> {
  for await (const name of namesOf(store)) if (!isOwnRecordName(name)) yield name
}

/** The names of all records, those of our own among them. @throws TypeError if the store can't list them */
export async function* namesOf(store: GuardedStore): AsyncGenerator<string> {
  if (store.accounts === undefined) throw new TypeError('store: this token store cannot list its accounts')
  yield* store.accounts()
}
