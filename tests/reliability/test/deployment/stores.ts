/** The stores that every scenario runs on: one row each. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from '@jest/globals'
import { createTable } from '@owner-sso/token-store-sql'
import Database from 'libsql'
import { Client } from 'pg'
import { hasPostgres, startPostgres } from '../../../support/postgres-server.ts'
import { hasRedis, startRedis } from '../../../support/redis-server.ts'
import { isLong } from './figures.ts'

/** What a worker opens its store with; plain data. */
export type StoreSettings =
  | { readonly kind: 'file'; readonly path: string; readonly key?: readonly number[] }
  | { readonly kind: 'redis'; readonly url: string; readonly prefix: string }
  | { readonly kind: 'postgres'; readonly url: string; readonly tableName: string }
  | { readonly kind: 'sqlite'; readonly path: string }

export interface StoreRow {
  readonly name: string
  /** A new, empty store. */
  readonly make: () => Promise<{ readonly settings: StoreSettings; readonly remove: () => Promise<void> }>
}

export const fileRow: StoreRow = {
  name: 'file store',
  async make() {
    const folder = mkdtempSync(join(tmpdir(), 'owner-sso-scenario-'))
    return {
      settings: { kind: 'file', path: join(folder, 'tokens') },
      // After a failed test a worker may still be writing.
      remove: async () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }),
    }
  },
}

let stores = 0
const shared = new Map<string, Promise<{ readonly url: string; readonly stop: () => Promise<void> }>>()

/** One server of a kind for all tests of a file. */
function sharedServer(kind: 'redis' | 'postgres'): Promise<{ readonly url: string }> {
  const server = shared.get(kind) ?? (kind === 'redis' ? startRedis() : startPostgres())
  shared.set(kind, server)
  return server
}

afterAll(async () => {
  for (const server of shared.values()) await (await server).stop()
})

/** Each test has keys of its own. */
export const redisRow: StoreRow = {
  name: 'Redis store',
  async make() {
    const { url } = await sharedServer('redis')
    stores += 1
    return { settings: { kind: 'redis', url, prefix: `scenario-${stores}:` }, remove: async () => undefined }
  },
}

/** Each test has a table of its own. */
export const postgresRow: StoreRow = {
  name: 'PostgreSQL store',
  async make() {
    const { url } = await sharedServer('postgres')
    stores += 1
    const tableName = `scenario-${stores}`
    const client = new Client({ connectionString: url })
    await client.connect()
    await createTable(client, { tableName })
    await client.end()
    return { settings: { kind: 'postgres', url, tableName }, remove: async () => undefined }
  },
}

export const sqliteRow: StoreRow = {
  name: 'SQLite store',
  async make() {
    const folder = mkdtempSync(join(tmpdir(), 'owner-sso-scenario-'))
    const path = join(folder, 'tokens.db')
    // Before anybody else has it open: a change of the journal waits for nobody.
    const client = new Database(path)
    client.exec('PRAGMA journal_mode = WAL')
    await createTable(client)
    client.close()
    return {
      settings: { kind: 'sqlite', path },
      remove: async () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }),
    }
  },
}

/** A store on a server of the test's own, which it may do anything to. */
export function redisOn({ url }: { readonly url: string }): StoreRow {
  return {
    name: 'Redis store',
    make: async () => ({ settings: { kind: 'redis', url, prefix: 'owner-sso:' }, remove: async () => undefined }),
  }
}

/** The same on a PostgreSQL. */
export function postgresOn({ url }: { readonly url: string }): StoreRow {
  return {
    name: 'PostgreSQL store',
    make: async () => ({
      settings: { kind: 'postgres', url, tableName: 'owner_sso_tokens' },
      remove: async () => undefined,
    }),
  }
}

export const storeRows: readonly StoreRow[] = [
  fileRow,
  ...(hasRedis ? [redisRow] : []),
  ...(hasPostgres ? [postgresRow] : []),
  sqliteRow,
]

/**
 * The stores of the n-th of some scenarios in which the store makes no difference: each takes its turn in the short form, all
 * of them in the long one.
 */
export function storesOf(scenario: number): readonly StoreRow[] {
  const turn = scenario % storeRows.length
  return isLong ? storeRows : storeRows.slice(turn, turn + 1)
}
