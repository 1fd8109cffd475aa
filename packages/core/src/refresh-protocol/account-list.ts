/**
 * The accounts of a store, and copying their token sets into another one.
 */
import { randomUUID } from 'node:crypto'
import type { TokenStore, Versioned } from '../token-store.ts'
import { isBehind } from './lineage.ts'
import type { Placed } from './lineage.ts'
import { isAccountRecord } from './read-record.ts'
import { isFirewallRecordName } from './shared-breaker.ts'

/**
 * Copies the newest record of every account into another store, to change the store or its keys. Records go as they are,
 * tombstones and refreshes in doubt included; one that the target has a newer version of stays. Nothing may refresh
 * through `from` any more.
 *
 * @returns how many records were written
 * @throws TypeError if `from` can't list its accounts
 * @throws StoreError where either can't be read or written; what was copied stays, and a repetition is harmless
 */
export async function copyTokenSets(from: TokenStore, to: TokenStore): Promise<number> {
  let copied = 0
  for await (const account of listOf(from)) {
    if (await copyRecord(account, from, to)) copied += 1
  }
  return copied
}

async function copyRecord(account: string, from: TokenStore, to: TokenStore): Promise<boolean> {
  const source = asPlaced(await from.read(account))
  if (source === undefined) return false
  const writeId = randomUUID()
  for (;;) {
    const target = asPlaced(await to.read(account))
    if (target !== undefined && !isBehind(target, source)) return false
    const answer = await to.swap(account, target?.version ?? 0, source.record, writeId)
    if (!('conflict' in answer)) return true
  }
}

function asPlaced(stored: Versioned | undefined): Placed | undefined {
  return stored !== undefined && isAccountRecord(stored.record)
    ? { version: stored.version, record: stored.record }
    : undefined
}

/**
 * The names of all accounts that are signed in or have to sign in again.
 *
 * @throws TypeError if the store can't list its accounts
 */
export async function* accountsOf(store: TokenStore): AsyncGenerator<string> {
  for await (const account of listOf(store)) {
    const stored = await store.read(account)
    if (stored !== undefined && isAccountRecord(stored.record) && stored.record.state !== 'signed-out') yield account
  }
}

async function* listOf(store: TokenStore): AsyncGenerator<string> {
  if (store.accounts === undefined) throw new TypeError('store: this token store cannot list its accounts')
  for await (const account of store.accounts()) {
    if (!isFirewallRecordName(account)) yield account
  }
}
