/**
 * The accounts of a store, and copying their token sets into another one.
 */
import { randomUUID } from 'node:crypto'
import { StoreError } from '../errors.ts'
import { startTimeLimit } from '../support/time-limit.ts'
import type { TokenStore } from './token-store.ts'
import { untilSwapped } from './contention.ts'
import { isBehind } from './lineage.ts'
import { accountRecord } from './read-record.ts'
import { isOwnRecordName } from './record-names.ts'
import { systemRuntime } from '../support/runtime.ts'
import { type GuardedStore, guardStore } from './guarded-store.ts'

/**
 * Copies the newest record of every account into another store, to change the store or its keys. Records go as they are,
 * tombstones and refreshes in doubt included; one that the target has a newer version of stays. Nothing may refresh
 * through `from` any more.
 *
 * @returns how many records were written
 * @throws TypeError if `from` can't list its accounts
 * @throws StoreError where either can't be read or written, `wrong-key` for records that are sealed with another key than
 *   was given. A record that can't be read, or written, is passed over, and its error comes after all others were copied; a
 *   store that can't be reached ends it at once. What was copied stays, and a repetition is harmless
 */
export async function copyTokenSets(from: TokenStore, to: TokenStore): Promise<number> {
  let copied = 0
  let failure: unknown
  const source = guardStore(from, startTimeLimit)
  const target = guardStore(to, startTimeLimit)
  for await (const account of listOf(source)) {
    try {
      if (await copyRecord(account, source, target)) copied += 1
    } catch (error) {
      if (!mayBeOfOneRecord(error)) throw error
      failure ??= error
    }
  }
  if (failure !== undefined) throw failure
  return copied
}

/** The record is at fault, not the store: the others may be well. */
export function isOfOneRecord(error: unknown): boolean {
  return isDamaged(error) || (error instanceof StoreError && error.reason === 'read-failed')
}

/** The same, or a write failed, which does not tell whose fault it is: only the next one does. */
export function mayBeOfOneRecord(error: unknown): boolean {
  return isOfOneRecord(error) || (error instanceof StoreError && error.reason === 'write-failed')
}

/** The record stays as it is until somebody mends it: another look finds the same. */
export function isDamaged(error: unknown): boolean {
  return error instanceof StoreError && ['corrupt', 'wrong-key', 'newer-release'].includes(error.reason)
}

async function copyRecord(account: string, from: GuardedStore, to: GuardedStore): Promise<boolean> {
  const source = accountRecord(await from.read(account))
  if (source === undefined) return false
  const writeId = randomUUID()
  return untilSwapped(systemRuntime, async () => {
    const target = accountRecord(await to.read(account))
    if (target !== undefined && !isBehind(target, source)) return false
    const swapped = await to.swap(account, target, source.record, writeId)
    return 'conflict' in swapped ? undefined : true
  })
}

/**
 * The names of all accounts that are signed in or have to sign in again.
 *
 * @throws TypeError if the store can't list its accounts; StoreError, after all names that can be told, where a record
 *   can't be read: with `wrong-key` where it is sealed with another key than was given
 */
export async function* accountsOf(store: GuardedStore): AsyncGenerator<string> {
  let failure: unknown
  for await (const account of listOf(store)) {
    try {
      const stored = accountRecord(await store.read(account))
      if (stored === undefined || stored.record.state === 'signed-out') continue
    } catch (error) {
      failure ??= error
      continue
    }
    yield account
  }
  if (failure !== undefined) throw failure
}

/** The names of all accounts that have a record. @throws TypeError if the store can't list them */
export async function* listOf(store: GuardedStore): AsyncGenerator<string> {
  if (store.accounts === undefined) throw new TypeError('store: this token store cannot list its accounts')
  for await (const account of store.accounts()) {
    if (!isOwnRecordName(account)) yield account
  }
}
