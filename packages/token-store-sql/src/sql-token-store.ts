/**
 * `sqlTokenStore`: token sets in a table of PostgreSQL or SQLite, shared by all processes that reach it.
 */
import {
  checkOptionNames,
  type EncryptionKey,
  type OptionNames,
  StoreError,
  type TokenStore,
  withEncryption,
} from '@owner-sso/token-manager'
import { listenWith, type PostgresSubscriber } from './change-hint.ts'
import { type Database, databaseOf, type Row, type SqlClient, type Statement } from './database.ts'
import { joinReads } from './joint-reads.ts'
import { hashOfAccount } from '@owner-sso/token-manager/support'
import { accountIn, asText, recordIn } from './record-row.ts'
import { executed, replicaFailure } from './sql-failure.ts'
import { pageSize, statementsOf } from './statements.ts'
import { defaultTable, quotedTable } from './table.ts'

/** The client, the table, and whether the records are sealed. */
export interface SqlTokenStoreOptions {
  /**
   * Your own client: pg's `Pool` or `Client`, PGlite; `DatabaseSync` of `node:sqlite`, better-sqlite3, libsql. It is never
   * opened, configured or closed here, and has to lead to a server that takes writes. Not one within a transaction of yours.
   */
  readonly client: SqlClient
  /** `table` or `schema.table`, in capitals or not as written. Default `owner_sso_tokens`; `createTable` makes it. */
  readonly tableName?: string | undefined
  /** Seals every record (AES-256-GCM), so that who can read the database has no token. Without it they are plain JSON. */
  readonly encryptionKey?: EncryptionKey | undefined
  /**
   * For `watch`, over PostgreSQL: a connection of yours to listen on, or what opens one, which is asked again after it broke. It
   * must not lead through a pooler in transaction mode. Then each swap tells those who listen. Without it there is no `watch`, and a
   * token manager polls.
   */
  readonly subscriber?: PostgresSubscriber | (() => Promise<PostgresSubscriber>) | undefined
}

const optionNames: OptionNames<SqlTokenStoreOptions> = {
  client: true,
  tableName: true,
  encryptionKey: true,
  subscriber: true,
}

/**
 * A store of one row an account: one SELECT for all that is read at once, one INSERT or UPDATE to swap.
 *
 * @throws TypeError for something that is not a client, a name or a key. Its operations throw `StoreError` within two seconds:
 *   `unavailable`, `busy`, `write-failed`, `permissions`, `corrupt`, `wrong-key`.
 */
export function sqlTokenStore(options: SqlTokenStoreOptions): TokenStore {
  checkOptionNames('sqlTokenStore', options, optionNames)
  const { subscriber } = options
  const isSubscriber = typeof subscriber === 'function' || typeof subscriber?.query === 'function'
  if (subscriber !== undefined && !isSubscriber) {
    throw new TypeError('subscriber must be a Client of pg, or a function that opens one')
  }
  return withEncryption(plainStore(options), options.encryptionKey)
}

function plainStore(options: SqlTokenStoreOptions): TokenStore {
  const { client, subscriber } = options
  const database = databaseOf(client)
  if (subscriber && database.dialect === 'sqlite') throw new TypeError('subscriber is for PostgreSQL alone')
  const statements = statementsOf(
    database.dialect,
    quotedTable(options.tableName ?? defaultTable),
    subscriber !== undefined,
  )
  const rowsOfOne = (accountHash: string): Promise<readonly Row[]> => rowsOf(database, statements.read, { accountHash })
  // SQLite is asked for one account after the other: there is no way to it that could be shared.
  const rowOf =
    database.dialect === 'sqlite'
      ? async (accountHash: string) => (await rowsOfOne(accountHash))[0]
      : joinReads(([first = '', ...others]) =>
          others.length === 0
            ? rowsOfOne(first)
            : rowsOf(database, statements.readMany, { accountHashes: JSON.stringify([first, ...others]) }),
        )
  const store: TokenStore = {
    read: async (account) => {
      const row = await rowOf(hashOfAccount(account))
      return row === undefined ? undefined : recordIn(row, account)
    },

    swap: async (account, expected, next, writeId, { expectedWriteId } = {}) => {
      const accountHash = hashOfAccount(account)
      const values = {
        accountHash,
        account: asText(account),
        record: JSON.stringify(next),
        writeId: asText(writeId),
      }
      const [row] =
        expected === 0 && expectedWriteId === undefined
          ? await rowsOf(database, statements.create, values)
          : await rowsOf(database, statements.replace, {
              ...values,
              expected,
              expectedWriteId: expectedWriteId === undefined ? null : asText(expectedWriteId),
            })
      return row === undefined ? { conflict: true } : recordIn(row, account)
    },

    accounts: () => accountNames(database, statements.page),
  }
  if (!subscriber) return store
  const listen = listenWith(subscriber)
  return { ...store, watch: (account, onChange) => listen(hashOfAccount(account), onChange) }
}

/** @throws StoreError where it fails, does not answer in time, or is a replica's */
async function rowsOf(
  { run }: Database,
  statement: Statement,
  values: Parameters<Database['run']>[1],
): Promise<readonly Row[]> {
  const rows = await executed(() => run(statement, values))
  if (Number(rows[0]?.['replica']) === 1) throw replicaFailure()
  return rows
}

/** Every account that can be read, page by page; then the error of the first row that is not ours. */
async function* accountNames(database: Database, page: Statement): AsyncGenerator<string> {
  let foreign: StoreError | undefined
  let rows: readonly Row[]
  let after = ''
  do {
    rows = await rowsOf(database, page, { after })
    for (const row of rows) {
      after = String(row['account_hash'])
      const account = accountOrError(row, after)
      if (typeof account === 'string') yield account
      else foreign ??= account
    }
  } while (rows.length === pageSize)
  if (foreign !== undefined) throw foreign
}

function accountOrError(row: Row, accountHash: string): string | StoreError {
  try {
    return accountIn(row, accountHash)
  } catch (error) {
    if (error instanceof StoreError) return error
    throw error
  }
}
