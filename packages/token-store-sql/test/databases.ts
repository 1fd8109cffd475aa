/** Databases as applications open them: pools of pg, a pooler in between, and whatever SQLite there is on this Node. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import { Client, Pool, type PoolConfig } from 'pg'
import type { SqliteClient } from '../src/index.ts'
import { freePort } from '../../../tests/support/free-port.ts'
import { ownFolder, unprivileged } from '../../../tests/support/postgres-server.ts'

export function poolOf(connectionString: string, options: PoolConfig = {}): Pool {
  return new Pool({ connectionString, max: 8, connectionTimeoutMillis: 1200, ...options }).on('error', () => undefined)
}

/** A connection to listen on. */
export async function listenerOf(connectionString: string): Promise<Client> {
  const client = new Client({ connectionString, connectionTimeoutMillis: 5000 })
  client.on('error', () => undefined)
  await client.connect()
  return client
}

export interface OpenSqlite extends SqliteClient {
  close(): unknown
}

/** `node:sqlite`, from Node 22.13 on. */
type NodeSqlite = { readonly DatabaseSync: new (path: string, options?: object) => OpenSqlite }
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- unknown to the types of the oldest Node
const nodeSqlite = process.getBuiltinModule('node:sqlite' as 'node:os') as unknown as NodeSqlite | undefined

/** What opens a file, by the name of the library. */
export const sqliteLibraries: Readonly<Record<string, (path: string, options?: object) => OpenSqlite>> = {
  libsql: (path) => new Database(path),
  ...(nodeSqlite && { 'node:sqlite': (path: string, options?: object) => new nodeSqlite.DatabaseSync(path, options) }),
}

/** As the README says to open it. */
export function openSqlite(library: string, path: string): OpenSqlite {
  const database = sqliteLibraries[library]?.(path)
  if (database === undefined) throw new Error(`There is no ${library} here`)
  database.exec('PRAGMA journal_mode = WAL')
  database.exec('PRAGMA synchronous = FULL')
  return database
}

/** A file for a database, in a folder of its own. */
export function sqliteFile(): { readonly path: string; readonly remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'owner-sso-sqlite-'))
  return { path: join(folder, 'tokens.db'), remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Whether PgBouncer is here. Under CI it is, or its tests fail. */
export const hasPgBouncer: boolean = spawnSync('pgbouncer', ['--version']).status === 0 || process.env['CI'] === 'true'

/** PgBouncer in transaction mode before a server: each transaction may get another connection. */
export async function startPgBouncer(
  server: number,
): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const port = await freePort()
  const folder = ownFolder('owner-sso-pgbouncer-')
  const file = join(folder, 'pgbouncer.ini')
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: 'transaction',
    default_pool_size: 3,
    // A connection goes to another client after every transaction.
    server_round_robin: 1,
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
  const database = `postgres = host=127.0.0.1 port=${server} user=postgres dbname=postgres`
  writeFileSync(file, ['[databases]', database, '[pgbouncer]', ...lines, ''].join('\n'), { mode: 0o644 })
  const child = spawn('pgbouncer', [file], { stdio: ['ignore', 'ignore', 'pipe'], ...unprivileged() })
  let output = ''
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', () => reject(new Error(`pgbouncer ended:\n${output}`)))
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk
      if (output.includes('process up')) resolve()
    })
  })
  return {
    url: `postgresql://anybody@127.0.0.1:${port}/postgres`,
    stop: async () => {
      const gone = once(child, 'exit')
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL')
        await gone
      }
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
