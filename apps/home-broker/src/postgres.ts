/**
 * The connections to PostgreSQL, opened as they are needed.
 */
import { StoreError } from '@owner-sso/core'
import { createTable, sqlTokenStore } from '@owner-sso/token-store-sql'
import pg from 'pg'
import { type BrokerStore, patience, type Sealing } from './broker-store.ts'

export function openPostgres(address: string, sealing: Sealing): BrokerStore {
  const url = new URL(address)
  const isSecure = !['', 'disable'].includes(url.searchParams.get('sslmode') ?? '')
  // pg would let it decide whether the certificate is verified; and so would the environment.
  url.searchParams.delete('sslmode')
  const pool = new pg.Pool({
    connectionString: url.href,
    connectionTimeoutMillis: patience,
    query_timeout: patience,
    keepAlive: true,
    ssl: isSecure && { rejectUnauthorized: true },
  })
  // A connection that broke while nobody used it is replaced by the next statement's.
  pool.on('error', () => undefined)
  let table: Promise<void> | undefined
  const store = sqlTokenStore({
    client: {
      async query(text, values) {
        table ??= tableIn(pool)
        try {
          await table
        } catch (error) {
          table = undefined
          throw error
        }
        return pool.query(text, values)
      },
    },
    ...sealing,
  })
  return { store, close: () => pool.end() }
}

/** Made by the first broker. Who may not make one uses the one that is there. */
async function tableIn(pool: pg.Pool): Promise<void> {
  try {
    await createTable(pool)
  } catch (error) {
    if (!(error instanceof StoreError && error.reason === 'permissions')) throw error
  }
}
