import { randomBytes, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll, describe, test } from '@jest/globals'
import { tokenStoreConformance } from '@owner-sso/token-store-conformance'
import type { Client, Pool } from 'pg'
import { createTable, type SqlClient, sqlTokenStore, type SqlTokenStoreOptions } from '../src/index.ts'
import { databaseOf } from '../src/database.ts'
import { hashOfAccount } from '@owner-sso/token-manager/support'
import { quotedTable } from '../src/table.ts'
import { killedWriter } from '../../../tests/support/killed-writer.ts'
import { describeWithPostgres, type PostgresServer, startPostgres } from '../../../tests/support/postgres-server.ts'
import {
  hasPgBouncer,
  listenerOf,
  openSqlite,
  type OpenSqlite,
  poolOf,
  sqliteFile,
  sqliteLibraries,
  startPgBouncer,
} from './databases.ts'

const writer = fileURLToPath(new URL('writer-process.mjs', import.meta.url))

interface Deployment {
  /** What the store is made with, but for its table. */
  readonly options: () => SqlTokenStoreOptions
  /** A client of its own for what reopens the same data, as another process has one. */
  readonly another?: () => SqlClient
  readonly watch?: boolean
  /** Makes the table. Default: `createTable`. */
  readonly create?: (tableName: string) => Promise<unknown>
  /** How many random histories are tried: fewer where another deployment has the same database. */
  readonly histories?: number
  /** What `writer-process.mjs` opens. */
  readonly crash?: { readonly kind: string; readonly address: () => string }
}

/** The suite over a client; each rule has a table of its own, with a name that has to be quoted. */
function conformance({ options, another, watch = false, create, histories = 25, crash }: Deployment): void {
  const tables = new WeakMap<object, string>()
  const open = (tableName: string, client: SqlClient): ReturnType<typeof sqlTokenStore> => {
    const store = sqlTokenStore({ ...options(), client, tableName })
    tables.set(store, tableName)
    return store
  }
  const tableOf = (store: object): string => tables.get(store) ?? ''
  tokenStoreConformance({
    describe,
    test,
    createStore: async () => {
      const tableName = `a "table"; -- ${randomUUID()}`
      const { client } = options()
      await (create?.(tableName) ?? createTable(client, { tableName }))
      return open(tableName, client)
    },
    reopen: (store) => open(tableOf(store), another?.() ?? options().client),
    accounts: true,
    damage: async (store, account) => {
      const { run } = databaseOf(options().client)
      const table = quotedTable(tableOf(store))
      await run({
        text: `UPDATE ${table} SET account = '"' WHERE account_hash = '${hashOfAccount(account)}'`,
        names: [],
        writes: true,
      })
    },
    watch,
    histories,
    ...(crash && {
      crash: (store, account) => killedWriter(writer, [crash.kind, crash.address(), tableOf(store), account]),
    }),
  })
}

/** The table of the migration in four partitions, as the README says. */
async function createPartitioned(client: Pool, tableName: string): Promise<void> {
  const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
  const migration = readFileSync(new URL('../migrations/postgresql.sql', import.meta.url), 'utf8')
  const whole = migration.replace('"owner_sso_tokens"', quoted(tableName))
  await client.query(whole.replace(/\);\s*$/u, ') PARTITION BY HASH (account_hash)'))
  for (let part = 0; part < 4; part += 1) {
    await client.query(
      `CREATE TABLE ${quoted(randomUUID())} PARTITION OF ${quoted(tableName)} FOR VALUES WITH (MODULUS 4, REMAINDER ${part})`,
    )
  }
}

describeWithPostgres('sqlTokenStore on PostgreSQL', () => {
  let server: PostgresServer
  let pooler: Awaited<ReturnType<typeof startPgBouncer>> | undefined
  let subscriber: Client
  const pools = new Map<string, Pool>()
  const opened = (name: string): Pool => {
    const pool = pools.get(name)
    if (pool === undefined) throw new Error(`no pool ${name}`)
    return pool
  }
  const listeners: Client[] = []
  /** Not through the pooler, which would give the connection to somebody else. */
  const newListener = async (): Promise<Client> => {
    const listener = await listenerOf(server.url)
    listeners.push(listener)
    return listener
  }
  beforeAll(async () => {
    server = await startPostgres()
    if (hasPgBouncer) pooler = await startPgBouncer(server.port)
    subscriber = await newListener()
    const cold = { connectionTimeoutMillis: 30_000 }
    const serializable = { ...cold, options: '-c default_transaction_isolation=serializable' }
    pools.set('read committed', poolOf(server.url, cold))
    pools.set('serializable', poolOf(server.url, serializable))
    pools.set('another serializable', poolOf(server.url, serializable))
    if (pooler) pools.set('pooler', poolOf(pooler.url, cold))
    // The first connections to a server that has just been started take longer on a busy machine than a store waits.
    await Promise.all([...pools.values()].map((pool) => pool.query('SELECT 1')))
  }, 120_000)
  afterAll(async () => {
    await Promise.all([...listeners, ...pools.values()].map((each) => each.end()))
    await pooler?.stop()
    await server?.stop()
  })

  describe('under READ COMMITTED, with a connection that listens', () => {
    conformance({
      options: () => ({ client: opened('read committed'), subscriber }),
      watch: true,
      crash: { kind: 'postgresql', address: () => server.url },
    })
  })
  describe('under SERIALIZABLE, sealed', () => {
    const encryptionKey = randomBytes(32)
    conformance({
      options: () => ({ client: opened('serializable'), encryptionKey }),
      another: () => opened('another serializable'),
    })
  })
  describe('in a table of four partitions, by the hash of the account', () => {
    conformance({
      options: () => ({ client: opened('read committed'), subscriber }),
      watch: true,
      create: (tableName) => createPartitioned(opened('read committed'), tableName),
      histories: 5,
      crash: { kind: 'postgresql', address: () => server.url },
    })
  })
  const describeWithPgBouncer = hasPgBouncer ? describe : describe.skip
  describeWithPgBouncer('through PgBouncer in transaction mode', () => {
    conformance({
      options: () => ({ client: opened('pooler'), subscriber: newListener }),
      watch: true,
      histories: 5,
      crash: { kind: 'postgresql', address: () => pooler?.url ?? '' },
    })
  })
})

describe('sqlTokenStore on PGlite', () => {
  const client = new PGlite()
  afterAll(() => client.close())
  conformance({ options: () => ({ client }), histories: 5 })
})

describe.each(Object.keys(sqliteLibraries))('sqlTokenStore on SQLite by %s', (library) => {
  const file = sqliteFile()
  const databases: OpenSqlite[] = []
  const open = (): OpenSqlite => {
    const database = openSqlite(library, file.path)
    databases.push(database)
    return database
  }
  afterAll(() => {
    for (const database of databases) database.close()
    file.remove()
  })
  const client = open()
  conformance({ options: () => ({ client }), another: open, crash: { kind: library, address: () => file.path } })
})
