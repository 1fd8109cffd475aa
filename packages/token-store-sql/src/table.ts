/**
 * The table: its name, and what makes it. The same stands in `migrations/`, a file for each dialect.
 */
import { checkOptionNames } from '@owner-sso/token-manager'
import { type Database, databaseOf, type SqlClient, type SqlDialect } from './database.ts'
import { executed, sqlStateOf } from './sql-failure.ts'

/** The table that is made. */
export interface CreateTableOptions {
  /** As for `sqlTokenStore`. Default `owner_sso_tokens`. */
  readonly tableName?: string | undefined
}

export const defaultTable = 'owner_sso_tokens'

/** The longest name that PostgreSQL keeps whole, in bytes. */
const longestName = 63

/**
 * Makes the table of a store where there is none; a table of that name is left as it is. Any number of processes may ask at once.
 *
 * @throws TypeError for something that is not a client, or not a name
 * @throws StoreError `permissions` where this user may not make it, `unavailable` where there is no such schema or database
 */
export async function createTable(client: SqlClient, options: CreateTableOptions = {}): Promise<void> {
  checkOptionNames('createTable', options, { tableName: true })
  const { tableName = defaultTable } = options
  const database = databaseOf(client)
  const definition = tableDefinition(database.dialect, quotedTable(tableName))
  await executed(() => createdOnce(database, definition))
}

/** A duplicate: a row of the catalogue, a table, or the type of its rows. */
const duplicates: ReadonlySet<string | undefined> = new Set(['23505', '42P07', '42710'])

/**
 * PostgreSQL looks whether there is a table before it makes one: of two that ask at once, one may be told of a duplicate. It asks
 * again, and then finds the table; a type of that name without a table is still in the way.
 */
async function createdOnce({ execute }: Database, definition: string): Promise<void> {
  try {
    await execute(definition)
  } catch (error) {
    if (!duplicates.has(sqlStateOf(error))) throw error
    await execute(definition)
  }
}

/**
 * A table's name as SQL has it, whatever characters are in it.
 *
 * @param name - `table` or `schema.table`, in capitals or not as written
 * @throws TypeError for a name that is empty, too long, or in more than two parts
 */
export function quotedTable(name: string): string {
  const parts = typeof name === 'string' ? name.split('.') : []
  if (parts.length < 1 || parts.length > 2 || !parts.every(isName)) {
    throw new TypeError(`tableName must be table or schema.table, each part of 1 to ${longestName} bytes`)
  }
  return parts.map((part) => `"${part.replaceAll('"', '""')}"`).join('.')
}

function isName(part: string): boolean {
  return part !== '' && !/[\0\p{Surrogate}]/u.test(part) && Buffer.byteLength(part) <= longestName
}

/** Text alone, and nothing that depends on a collation: what is in it, `record-row.ts` says. */
export function tableDefinition(dialect: SqlDialect, table: string): string {
  const [hash, whole, end] =
    dialect === 'postgresql' ? ['text COLLATE "C"', 'bigint', ''] : ['text NOT NULL', 'integer', ' STRICT']
  return `CREATE TABLE IF NOT EXISTS ${table} (
  account_hash ${hash} PRIMARY KEY,
  account text NOT NULL,
  version ${whole} NOT NULL,
  write_id text NOT NULL,
  record text NOT NULL
)${end}`
}
