/**
 * The caller's own client, as far as the store needs it: PostgreSQL over anything with `query`, SQLite over anything with
 * `prepare` and `exec`. It is never opened, configured or closed here.
 */
import { whatCame } from '@owner-sso/token-manager/support'

/** What pg's `Pool` and `Client`, and PGlite, have in common. */
export interface PostgresClient {
  query(text: string, values: unknown[]): Promise<{ readonly rows: unknown[] }>
}

/** What `DatabaseSync` of `node:sqlite`, better-sqlite3 and libsql have in common. */
export interface SqliteClient {
  exec(text: string): unknown
  prepare(text: string): {
    all(values: Record<string, string | number | null>): unknown[]
    /** Of `node:sqlite`: whatever its client was opened with, rows are objects, and values have names without a sign. */
    setReturnArrays?(enabled: boolean): unknown
    setAllowBareNamedParameters?(enabled: boolean): unknown
  }
}

/** A connected client of either kind. */
export type SqlClient = PostgresClient | SqliteClient

/** The SQL that a client speaks. */
export type SqlDialect = 'postgresql' | 'sqlite'

type Values = Readonly<Record<string, string | number | null>>

/** One statement, with the names of its values in the order of their first use. */
export interface Statement {
  readonly text: string
  readonly names: readonly string[]
  /** Whether it changes anything. */
  readonly writes: boolean
}

export type Row = Readonly<Record<string, unknown>>

export interface Database {
  readonly dialect: SqlDialect
  /** Executes one statement in a transaction of its own; over PostgreSQL that is one round trip. @throws the client's own error */
  readonly run: (statement: Statement, values?: Values) => Promise<readonly Row[]>
  /** Executes what has no values and returns no rows. @throws the client's own error */
  readonly execute: (text: string) => Promise<void>
}

/** SQLite where it can `prepare` and `exec`, PostgreSQL where it can `query`. @throws TypeError for anything but a client */
export function databaseOf(client: SqlClient): Database {
  if (isSqlite(client)) return sqlite(client)
  if (hasMethod(client, 'query')) return postgres(client)
  throw new TypeError(
    `client must have query(text, values), for PostgreSQL, or prepare(text) and exec(text), for SQLite${whatCame(client)}`,
  )
}

/** A statement of its dialect: `compose` writes the text, with `value(name)` where a value goes. */
export function statementIn(
  dialect: SqlDialect,
  writes: boolean,
  compose: (value: (name: string) => string) => string,
): Statement {
  const names: string[] = []
  const text = compose((name) => {
    if (!names.includes(name)) names.push(name)
    return dialect === 'postgresql' ? `$${names.indexOf(name) + 1}` : `@${name}`
  })
  return { text, names, writes }
}

function isSqlite(client: SqlClient): client is SqliteClient {
  return hasMethod(client, 'prepare') && hasMethod(client, 'exec')
}

function hasMethod(client: unknown, name: string): boolean {
  return typeof client === 'object' && client !== null && typeof Reflect.get(client, name) === 'function'
}

/** Statements without a name: a pooler may give each of them another connection. */
function postgres(client: PostgresClient): Database {
  const query = isSingleConnection(client) ? oneByOne(client) : client.query.bind(client)
  return {
    dialect: 'postgresql',
    run: async ({ text, names }, values = {}) => {
      const { rows } = await query(
        text,
        names.map((name) => values[name]),
      )
      return rows.filter(isRow)
    },
    execute: async (text) => void (await query(text, [])),
  }
}

/** A `Client` of pg, told from a `Pool` by a method that it alone has. PGlite queues statements by itself. */
function isSingleConnection(client: PostgresClient): boolean {
  return hasMethod(client, 'escapeIdentifier')
}

/** The last statement of each connection: several stores may share one. */
const lastStatements = new WeakMap<PostgresClient, Promise<unknown>>()

/** pg warns of a statement that comes to a `Client` while another is under way, and will refuse it from version 9 on. */
function oneByOne(client: PostgresClient): PostgresClient['query'] {
  return (text, values) => {
    const next = (): ReturnType<PostgresClient['query']> => client.query(text, values)
    const result = Promise.resolve(lastStatements.get(client)).then(next, next)
    lastStatements.set(client, result)
    return result
  }
}

function sqlite(client: SqliteClient): Database {
  const prepared = new Map<string, ReturnType<SqliteClient['prepare']>>()
  return {
    dialect: 'sqlite',
    run: async ({ text, names, writes }, values = {}) =>
      inTransaction(client, writes, () => {
        const statement = prepared.get(text) ?? preparedBy(client, text)
        prepared.set(text, statement)
        const named = Object.fromEntries(names.map((name) => [name, values[name] ?? null]))
        return statement.all(named).filter(isRow)
      }),
    execute: async (text) => void client.exec(text),
  }
}

function preparedBy(client: SqliteClient, text: string): ReturnType<SqliteClient['prepare']> {
  const statement = client.prepare(text)
  statement.setReturnArrays?.(false)
  statement.setAllowBareNamedParameters?.(true)
  return statement
}

/**
 * Takes the lock before the prepared statement needs it, and by `exec`. In libsql, a prepared statement that did not get the
 * lock (`SQLITE_BUSY`) stays under way: from then on its connection reads old data, and commits nothing of what it
 * acknowledges.
 */
function inTransaction<Value>(client: SqliteClient, writes: boolean, execute: () => Value): Value {
  client.exec(writes ? 'BEGIN IMMEDIATE' : 'BEGIN')
  try {
    if (!writes) client.exec('SELECT 1 FROM sqlite_schema LIMIT 0')
    const value = execute()
    client.exec('COMMIT')
    return value
  } catch (error) {
    rollBack(client)
    throw error
  }
}

/** After some failures SQLite has rolled back by itself, and a second ROLLBACK is an error. */
function rollBack(client: SqliteClient): void {
  try {
    client.exec('ROLLBACK')
  } catch {}
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null
}
