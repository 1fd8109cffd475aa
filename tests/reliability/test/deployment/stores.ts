/** The stores that every scenario runs on: one row each. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from '@jest/globals'
import { hasRedis, type RedisServer, startRedis } from '../../../support/redis-server.ts'

/** What a worker opens its store with; plain data. */
export type StoreSettings =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'redis'; readonly url: string; readonly prefix: string }

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

let shared: Promise<RedisServer> | undefined
let stores = 0

afterAll(async () => {
  await (await shared)?.stop()
})

/** One server for all tests of a file; each has keys of its own. */
export const redisRow: StoreRow = {
  name: 'Redis store',
  async make() {
    shared ??= startRedis()
    const { url } = await shared
    stores += 1
    return { settings: { kind: 'redis', url, prefix: `scenario-${stores}:` }, remove: async () => undefined }
  },
}

/** A store on a server of the test's own, which it may do anything to. */
export function redisOn({ url }: Pick<RedisServer, 'url'>): StoreRow {
  return {
    name: 'Redis store',
    make: async () => ({ settings: { kind: 'redis', url, prefix: 'owner-sso:' }, remove: async () => undefined }),
  }
}

export const storeRows: readonly StoreRow[] = hasRedis ? [fileRow, redisRow] : [fileRow]
