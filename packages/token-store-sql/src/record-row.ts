/**
 * What stands in a row: the hash of the account, its name, version, id of the write, and the record as JSON.
 *
 * The hash is the key. Names and ids are written as within a JSON string:
 * most read as they are, and a database's text takes all of them.
 */
import { StoreError, type TokenRecord, type UnreadWrite, type Versioned } from '@owner-sso/token-manager'
import { hashOfAccount } from '@owner-sso/token-manager/support'
import type { Row } from './database.ts'

export const asText = (value: string): string => JSON.stringify(value).slice(1, -1)

/** The account that a row names. @throws StoreError `corrupt` where it is not the hash's */
export function accountIn(row: Row, accountHash: string): string {
  const account = accountNamed(row)
  if (typeof account === 'string' && !/\p{Surrogate}/u.test(account) && hashOfAccount(account) === accountHash)
    return account
  throw notOurs(row, accountHash)
}

function accountNamed(row: Row): unknown {
  return parsed(`"${String(row['account'])}"`)
}

/** The record of an account. @throws StoreError `corrupt` for what this store did not write for it */
export function recordIn(row: Row, account: string): Versioned {
  const write = writeIn(row)
  const record = parsed(String(row['record']))
  if (accountNamed(row) === account && write?.writeId !== undefined && isRecord(record)) return { ...write, record }
  throw notOurs(row, hashOfAccount(account))
}

/** The version and write id of a row, as far as they can be read. */
function writeIn(row: Row): UnreadWrite | undefined {
  const version = Number(row['version'])
  const writeId = parsed(`"${String(row['write_id'])}"`)
  if (!Number.isSafeInteger(version) || version < 1) return undefined
  return { version, writeId: typeof writeId === 'string' ? writeId : undefined }
}

function notOurs(row: Row, accountHash: string): StoreError {
  const message = `The row with the account_hash ${accountHash} is not a record of this store. It was left as it is: remove it and sign in again.`
  return new StoreError('corrupt', message, { unread: writeIn(row) })
}

/** What is in a record is the token manager's to check. */
function isRecord(value: unknown): value is TokenRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `undefined` for what is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
