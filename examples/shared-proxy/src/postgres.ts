/**
 * The gateway's connections to PostgreSQL: a pool for statements, and one that hears of changes.
 */
import { StoreError } from '@owner-sso/core'
import { checkDatabase, createTable, type PostgresClient, sqlTokenStore } from '@owner-sso/token-store-sql'
import pg from 'pg'
import { codeOf, type OnDown, type SharedStore, type StoreSettings } from './shared-store.ts'

/** Opens connections as they are needed, and makes the table where there is none and this user may. */
export function openPostgres({ storeUrl, encryptionKeys: encryptionKey }: StoreSettings, onDown: OnDown): SharedStore {
  const connection = connectionTo(storeUrl)
  const pool = new pg.Pool(connection)
  let isDown = false
  const down = (error: unknown): void => {
    if (!isDown) onDown(codeOf(error))
    isDown = true
  }
  // A connection that broke while nobody used it is replaced by the next statement's.
  pool.on('error', () => undefined)

  let table: Promise<void> | undefined
  const client: PostgresClient = {
    async query(text, values) {
      try {
        await (table ??= madeTable(pool))
        const answer = await pool.query(text, values)
        isDown = false
        return answer
      } catch (error) {
        if (error instanceof StoreError) table = undefined
        if (!isRejection(error)) down(error)
        throw error
      }
    },
  }
  let listener: pg.Client | undefined
  const subscriber = async (): Promise<pg.Client> => {
    listener = new pg.Client(connection)
    await listener.connect()
    return listener
  }
  const store = sqlTokenStore({ client, subscriber, encryptionKey })

  return {
    store,
    problems: async () => (await checkDatabase(client)).map(({ message }) => message),
    close: () => {
      for (const each of [pool, listener]) each?.end().catch(() => undefined)
    },
  }
}

/** Who may not make a table uses the one that is there. */
async function madeTable(pool: pg.Pool): Promise<void> {
  try {
    await createTable(pool)
  } catch (error) {
    if (!(error instanceof StoreError && error.reason === 'permissions')) throw error
  }
}

/** An answer of a server that is there: that others were writing, for example. */
function isRejection(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(?:[24]|55)/u.test(error.code ?? '') && !error.code?.startsWith('28')
}

/** TLS, verified, unless `sslmode` is absent or `disable`. */
function connectionTo(address: string): pg.PoolConfig {
  const url = new URL(address)
  const mode = url.searchParams.get('sslmode') ?? 'disable'
  // pg would let it decide whether the certificate is verified; and so would the environment.
  url.searchParams.delete('sslmode')
  return {
    connectionString: url.href,
    connectionTimeoutMillis: 2000,
    query_timeout: 2000,
    keepAlive: true,
    ssl: mode !== 'disable' && { rejectUnauthorized: true },
  }
}
