/**
 * What a keeper's sweep costs as the store grows: `node bench/keeper.mjs [file|redis|postgres|sqlite] [ACCOUNTS…]`, after
 * `npm run build`. A sweep in which nothing is due: it lists all accounts and reads each record. Per account it costs the same
 * however many there are, and its memory stays flat. Ratios count, times do not. Redis needs redis-server, and PostgreSQL postgres.
 *
 * What fills the store waits for no disk: that is not what is measured.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createTokenManager, sweepOnce } from '@owner-sso/core'
import { fileTokenStore } from '@owner-sso/token-store-file'
import { redisTokenStore } from '@owner-sso/token-store-redis'
import { createTable, sqlTokenStore } from '@owner-sso/token-store-sql'
import Database from 'libsql'
import pg from 'pg'
import { createClient } from 'redis'
import { accountFolder, keyOf, versionFile } from '../packages/token-store-file/dist/layout.js'
import { encode } from '../packages/token-store-file/dist/record-file.js'
import { startPostgres } from './postgres-server.mjs'
import { startRedis } from './redis-server.mjs'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc')

const [first = '', ...others] = process.argv.slice(2)
const only = /^[a-z]/u.test(first) ? first : undefined
const counts = (only === undefined ? [first, ...others] : others).map(Number).filter((count) => count > 0)
const sizes = counts.length > 0 ? counts : [1000, 10_000, 100_000]

const stores = {
  file: async (folder) => {
    const path = join(folder, 'tokens')
    const filled = {
      async swap(account, _expected, record, writeId) {
        const own = accountFolder(path, keyOf(account))
        mkdirSync(own, { recursive: true, mode: 0o700 })
        const content = encode({ schema: 1, account, slot: 1, version: 1, writeId, record })
        writeFileSync(versionFile(own, 1), content, { mode: 0o600 })
      },
    }
    return { store: fileTokenStore({ path }), filled, close: async () => {} }
  },
  redis: async (folder) => {
    const server = await startRedis(folder)
    if (!server) throw new Error('redis-server is not on the PATH')
    const client = await createClient({ url: server.url }).connect()
    return {
      store: redisTokenStore({ client }),
      async close() {
        client.destroy()
        server.stop()
      },
    }
  },
  postgres: async (folder) => {
    const server = await startPostgres(folder)
    if (!server) throw new Error('PostgreSQL is not here')
    // A connection that goes with its server is no news.
    const poolOf = (options) => new pg.Pool({ connectionString: server.url, max: 8, options }).on('error', () => {})
    const [client, filler] = [poolOf(''), poolOf('-c synchronous_commit=off')]
    await createTable(client)
    return {
      store: sqlTokenStore({ client }),
      filled: sqlTokenStore({ client: filler }),
      async close() {
        await Promise.all([client.end(), filler.end()])
        await server.stop()
      },
    }
  },
  sqlite: async (folder) => {
    const path = join(folder, 'tokens.db')
    const [client, filler] = [new Database(path), new Database(path)]
    client.exec('PRAGMA journal_mode = WAL')
    filler.exec('PRAGMA synchronous = OFF')
    await createTable(client)
    return {
      store: sqlTokenStore({ client }),
      filled: sqlTokenStore({ client: filler }),
      async close() {
        client.close()
        filler.close()
      },
    }
  },
}

const rows = {}
for (const [kind, open] of Object.entries(stores)) {
  if (only !== undefined && only !== kind) continue
  let smallest
  for (const size of sizes) {
    const folder = mkdtempSync(join(tmpdir(), 'owner-sso-bench-'))
    const opened = await open(folder)
    const { store, filled = store } = opened
    try {
      await fill(filled, size)
      const { cpu, memory } = await measure(store, size)
      const perAccount = cpu / size
      smallest ??= perAccount
      rows[`${kind}, ${size.toLocaleString('en')} accounts`] = {
        'CPU ms, sweep': Math.round(cpu),
        'µs per account': Math.round(perAccount * 1000),
        'per account, ratio': Number((perAccount / smallest).toFixed(2)),
        'peak MB beyond start': Math.round(memory),
      }
    } finally {
      await opened.close()
      rmSync(folder, { recursive: true })
    }
  }
}
console.table(rows)

async function fill(store, size) {
  const now = Math.floor(Date.now() / 1000)
  const record = (index) => ({
    schema: 1,
    state: 'signed-in',
    generation: 1,
    refreshes: 0,
    lineage: `l${index}`,
    tokens: {
      access_token: 'x'.repeat(800),
      refresh_token: `r${index}${'x'.repeat(800)}`,
      token_type: 'Bearer',
      expires_at: now + 28_800,
      auth_url: 'http://127.0.0.1:9',
    },
    obtained_at: now,
    lifetime: 28_800,
  })
  for (let index = 0; index < size; index += 50) {
    const some = Array.from({ length: Math.min(50, size - index) }, (_, offset) => index + offset)
    await Promise.all(some.map((each) => store.swap(`owner-${each}@example.com`, 0, record(each), `w${each}`)))
  }
}

function inUse() {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** CPU milliseconds of one sweep, and the most memory in use beyond its start. */
async function measure(store, size) {
  const never = { refresh: () => Promise.reject(new Error('Nothing is due.')) }
  const tokens = createTokenManager({ sso: never, store })
  const start = inUse()
  let most = start
  const watch = setInterval(() => (most = Math.max(most, inUse())), 500)
  const before = process.cpuUsage()
  const { accounts, due } = await sweepOnce(tokens)
  const { user, system } = process.cpuUsage(before)
  clearInterval(watch)
  if (accounts !== size || due !== 0) throw new Error(`${accounts} accounts, ${due} due`)
  return { cpu: (user + system) / 1000, memory: (most - start) / 2 ** 20 }
}
