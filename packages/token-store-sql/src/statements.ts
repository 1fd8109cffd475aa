/**
 * The statements of a store: a read, a swap in its two forms, and a page of accounts. Each is one round trip and a transaction
 * of its own.
 */
import { type SqlDialect, type Statement, statementIn } from './database.ts'

export interface Statements {
  /** `accountHash`: its row. Over PostgreSQL where there is none, a row of no account. */
  readonly read: Statement
  /** For PostgreSQL. `accountHashes`, a JSON array: a row for each that is stored; one, of no account, where none is. */
  readonly readMany: Statement
  /** `accountHash`, `account`, `record`, `writeId`: the first record of an account. No row for a conflict. */
  readonly create: Statement
  /** `accountHash`, `account`, `expected`, `expectedWriteId` (null: any), `record`, `writeId`. No row for a conflict. */
  readonly replace: Statement
  /** `after`: the accounts whose hash comes after this one, in their order. */
  readonly page: Statement
}

/** How many accounts are read in one go. */
export const pageSize = 2000

/** The channel of PostgreSQL on which changed accounts are told, by their hash. */
export const channel = 'owner_sso_tokens'

/** @param table - quoted. @param notifies - whether a swap tells the channel, in the same transaction */
export function statementsOf(dialect: SqlDialect, table: string, notifies: boolean): Statements {
  type Compose = Parameters<typeof statementIn>[2]
  const reading = (compose: Compose): Statement => statementIn(dialect, false, compose)
  const writing = (compose: Compose): Statement => statementIn(dialect, true, compose)
  const columns = 'account, version, write_id, record'
  // A replica lags behind: its refresh token of an account may have been spent long ago.
  const replica = `${dialect === 'postgresql' ? 'pg_is_in_recovery()::int' : '0'} AS replica`
  const told = (swap: string, hash: string): string =>
    notifies ? `WITH swapped AS (${swap}) SELECT swapped.*, pg_notify('${channel}', ${hash}) FROM swapped` : swap

  const rowsWhere = (condition: string): string =>
    `SELECT ${replica}, account_hash, ${columns} FROM (SELECT 1 AS one) AS always LEFT JOIN ${table} ON ${condition}`

  return {
    read: reading((value) => {
      const isIt = `account_hash = ${value('accountHash')}`
      return dialect === 'sqlite' ? `SELECT account_hash, ${columns} FROM ${table} WHERE ${isIt}` : rowsWhere(isIt)
    }),
    // PostgreSQL plans each statement again, and planning this one takes half as long again as planning the read of one.
    readMany: reading((value) =>
      rowsWhere(`account_hash = ANY (ARRAY(SELECT jsonb_array_elements_text(${value('accountHashes')}::jsonb)))`),
    ),
    // Where there is a record, it changes nothing; to a repeat of the write that made the record, it returns it.
    create: writing((value) => {
      const insert = `INSERT INTO ${table} AS stored (account_hash, account, version, write_id, record)
VALUES (${value('accountHash')}, ${value('account')}, 1, ${value('writeId')}, ${value('record')})
ON CONFLICT (account_hash) DO UPDATE SET write_id = stored.write_id WHERE stored.write_id = excluded.write_id
RETURNING ${columns}`
      return told(insert, value('accountHash'))
    }),
    // The second of two writers waits for the first, and then sees what that has written.
    replace: writing((value) => {
      const writeId = value('writeId')
      const update = `UPDATE ${table} SET
  account = ${value('account')},
  version = CASE write_id WHEN ${writeId} THEN version ELSE version + 1 END,
  record = CASE write_id WHEN ${writeId} THEN record ELSE ${value('record')} END,
  write_id = ${writeId}
WHERE account_hash = ${value('accountHash')} AND (write_id = ${writeId}
  OR version = ${value('expected')} AND write_id = coalesce(${value('expectedWriteId')}, write_id))
RETURNING ${columns}`
      return told(update, value('accountHash'))
    }),
    page: reading(
      (value) => `SELECT ${replica}, account_hash, account FROM ${table}
WHERE account_hash > ${value('after')} ORDER BY account_hash LIMIT ${pageSize}`,
    ),
  }
}
