/**
 * The SQL store beside a bare SELECT and JSON.parse over the same connection: `node bench/sql-store.mjs [ACCOUNTS]`. Ratios, all
 * in one run. Needs PostgreSQL; SQLite where Node has it.
 *
 * A record is 3 KB. That a read is one statement, a swap one, and a refresh three round trips, is a test of the package.
 */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTable, sqlTokenStore } from '@owner-sso/token-store-sql'
import pg from 'pg'
import { startPostgres } from './postgres-server.mjs'

const accounts = Number(process.argv[2] ?? 10_000)
const rounds = 3000
const record = { schema: 1, state: 'signed-in', filling: 'x'.repeat(3000) }
/** Another each time: SQLite does not write what stands there already. */
const text = () => JSON.stringify({ ...record, at: performance.now() })
const folder = mkdtempSync(join(tmpdir(), 'owner-sso-bench-'))
const server = await startPostgres(folder)
const rows = {}

if (server) {
  const client = new pg.Pool({ connectionString: server.url, max: 4 })
  // The server that is stopped may be faster than the goodbye of a connection.
  client.on('error', () => undefined)
  await client.query('CREATE TABLE bare (id text PRIMARY KEY, record text)')
  await client.query('INSERT INTO bare VALUES ($1, $2)', ['bare', text()])
  await measure('PostgreSQL', client, {
    read: async () =>
      JSON.parse((await client.query('SELECT record FROM bare WHERE id = $1', ['bare'])).rows[0].record),
    write: () => client.query('UPDATE bare SET record = $2 WHERE id = $1', ['bare', text()]),
  })
  await client.end()
  await server.stop()
} else console.log('PostgreSQL is not here.')

const sqlite = process.getBuiltinModule('node:sqlite')
if (sqlite) {
  const client = new sqlite.DatabaseSync(join(folder, 'tokens.db'))
  client.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE bare (id text PRIMARY KEY, record text)',
  )
  client.prepare('INSERT INTO bare VALUES (?, ?)').run('bare', text())
  const [select, update] = ['SELECT record FROM bare WHERE id = ?', 'UPDATE bare SET record = ? WHERE id = ?']
  const [read, write] = [client.prepare(select), client.prepare(update)]
  await measure('SQLite', client, {
    read: async () => JSON.parse(read.all('bare')[0].record),
    write: async () => write.all(text(), 'bare'),
  })
  client.close()
} else console.log(`Node ${process.versions.node} has no SQLite.`)

console.table(rows)
rmSync(folder, { recursive: true })

async function measure(name, client, bare) {
  await createTable(client)
  const store = sqlTokenStore({ client })
  const versions = new Map()
  let visits = 0
  const nextAccount = () => `owner-${visits++ % accounts}@example.com`
  const update = async () => {
    const account = nextAccount()
    const { version } = await store.swap(account, versions.get(account) ?? 0, record, randomUUID())
    versions.set(account, version)
  }
  for (let made = 0; made < accounts; made += 100) await Promise.all(Array.from({ length: 100 }, update))

  const candidates = { bareRead: bare.read, read: () => store.read(nextAccount()), bareWrite: bare.write, update }
  /** Microseconds of every call; the candidates take turns call by call, so that all meet the same machine. */
  const times = new Map(Object.keys(candidates).map((each) => [each, []]))
  for (let round = 0; round < rounds; round += 1) {
    for (const [each, call] of Object.entries(candidates)) {
      const began = process.hrtime.bigint()
      await call()
      times.get(each).push(Number(process.hrtime.bigint() - began) / 1000)
    }
  }
  const median = (each) => times.get(each).toSorted((a, b) => a - b)[rounds >> 1]
  const row = (each, floor, budget) => ({
    'µs, median': Math.round(median(each)),
    'ratio to the bare query': Number((median(each) / median(floor)).toFixed(2)),
    budget,
  })
  rows[`${name}: bare SELECT + JSON.parse`] = row('bareRead', 'bareRead')
  rows[`${name}: read, ${accounts} accounts`] = row('read', 'bareRead', name === 'PostgreSQL' ? 1.2 : undefined)
  rows[`${name}: bare UPDATE`] = row('bareWrite', 'bareWrite')
  rows[`${name}: swap, ${accounts} accounts`] = row('update', 'bareWrite')
}
