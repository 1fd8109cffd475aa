/**
 * `postgres://HOST:PORT/DATABASE`: a table in PostgreSQL, made by the first command that may. TLS with `?sslmode=require`.
 */
import { promises } from 'node:fs'
import { StoreError } from '@owner-sso/core'
import { note } from '../terminal/finding.ts'
import type { OpenedStore, StoreAccess, StoreKind } from './store-kind.ts'

const patience = 2000

export const postgresStore: StoreKind = {
  isOfNetwork: true,
  forms: ['postgres://HOST:PORT/DATABASE', 'postgresql://HOST:PORT/DATABASE'],
  parse(address) {
    const url = /^postgres(?:ql)?:\/\//u.test(address) && URL.canParse(address) ? new URL(address) : undefined
    // A password has one place, where it is looked for before it is shown.
    return url === undefined || url.hostname === '' || url.searchParams.has('password') ? undefined : address
  },
  shown(url) {
    const { protocol, host, pathname } = new URL(url)
    return `${protocol}//${host}${pathname}`
  },
  open: openPostgres,
}

async function openPostgres(address: string, { ca, encryptionKey }: StoreAccess): Promise<OpenedStore> {
  const { checkDatabase, createTable, sqlTokenStore } = await import('@owner-sso/token-store-sql')
  const { Pool } = (await import('pg')).default
  const url = new URL(address)
  const isSecure = !['', 'disable'].includes(url.searchParams.get('sslmode') ?? '')
  // pg would let it decide whether the certificate is verified; and so would the environment.
  url.searchParams.delete('sslmode')
  const client = new Pool({
    connectionString: url.href,
    connectionTimeoutMillis: patience,
    query_timeout: patience,
    ssl: isSecure && { rejectUnauthorized: true, ...(ca !== undefined && { ca: await promises.readFile(ca) }) },
  })
  // A connection that breaks is replaced by the next statement's.
  client.on('error', () => undefined)
  const close = (): Promise<void> => client.end()
  try {
    await createTable(client)
  } catch (error) {
    // Who may not make a table may use the one that is there.
    if (!(error instanceof StoreError) || error.reason !== 'permissions' || !error.message.includes('42501')) {
      await close()
      throw located(error, url.host)
    }
  }
  return {
    store: sqlTokenStore({ client, encryptionKey }),
    sealed: encryptionKey !== undefined,
    check: async () =>
      (await checkDatabase(client)).map(({ message }) => note('store', message, 'Ask whoever runs the database.')),
    close,
  }
}

/** Which server it was that failed; never with its password. */
function located(error: unknown, host: string): unknown {
  return error instanceof StoreError ? new StoreError(error.reason, `PostgreSQL at ${host}: ${error.message}`) : error
}
