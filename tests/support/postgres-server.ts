/** Real PostgreSQL servers on free ports of loopback, which a test may kill, freeze and replicate. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe } from '@jest/globals'
import { Client } from 'pg'
import { freePort } from './free-port.ts'

/** Where the newest PostgreSQL's programs are: not on the PATH on Debian. `undefined` where there is none. */
const programs: string | undefined = binaryFolders().find(
  (folder) => spawnSync(join(folder, 'postgres'), ['--version']).status === 0,
)

/** Whether tests that need PostgreSQL run here. Under CI they do, or fail. */
export const hasPostgres: boolean = programs !== undefined || process.env['CI'] === 'true'
if (!hasPostgres) console.warn('Skipped: what needs PostgreSQL, which is not here (apt-get install postgresql).')

/** `describe` where there is a PostgreSQL to run; skipped elsewhere, and a failure on CI. */
export const describeWithPostgres: typeof describe | typeof describe.skip = hasPostgres ? describe : describe.skip

/** Nobody makes a second database: without what it would be a copy of, a cluster has a third of its files. */
const withoutTemplates = `
UPDATE pg_database SET datistemplate = false
DROP DATABASE template0
DROP DATABASE template1
`

const cache = fileURLToPath(new URL('../../node_modules/.cache/owner-sso', import.meta.url))

/** Milliseconds that a server may take to start: after a kill it first goes through its log. */
const longestStart = 60_000

export interface PostgresServer extends AsyncDisposable {
  readonly port: number
  /** Of its superuser, who needs no password. */
  readonly url: string
  /** Executes one statement over a connection of its own, and returns the rows. */
  readonly query: (text: string) => Promise<readonly Record<string, unknown>[]>
  /** SIGKILL, to the server and to the process of each connection. */
  readonly kill: () => Promise<void>
  /** Another process on the same port, with what the last one left on disk. */
  readonly start: () => Promise<void>
  /** SIGSTOP and SIGCONT. */
  readonly freeze: () => void
  readonly thaw: () => void
  /** A server that streams from this one. */
  readonly replica: () => Promise<PostgresServer>
  /** Kills it, and removes its files. */
  readonly stop: () => Promise<void>
}

export interface PostgresOptions {
  /** Settings in addition, as in postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>
  /** The users who need a password. */
  readonly withPassword?: readonly string[]
}

export async function startPostgres({
  settings = {},
  withPassword = [],
}: PostgresOptions = {}): Promise<PostgresServer> {
  const folder = ownFolder('owner-sso-postgres-')
  execFileSync('cp', ['-a', `${newCluster()}/.`, folder])
  const access = join(folder, 'pg_hba.conf')
  const rules = withPassword.map((user) => `host all ${user} 127.0.0.1/32 scram-sha-256\n`)
  writeFileSync(access, rules.join('') + readFileSync(access, 'utf8'))
  return serve(folder, settings)
}

/**
 * What initdb makes, kept for the servers of all runs: it takes longer than all else of a start.
 *
 * Where several processes make it at once, the first one's stays.
 */
function newCluster(): string {
  const flags = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--no-locale', '--no-instructions']
  // Segments of a megabyte in place of 16: every server gets a copy, and writes whole ones.
  flags.push('--wal-segsize=1')
  const { stdout: version } = spawnSync(program('initdb'), ['--version'], { encoding: 'utf8' })
  const kind = createHash('sha256')
    .update(JSON.stringify([version, flags, withoutTemplates, unprivileged()]))
    .digest('hex')
    .slice(0, 16)
  const cluster = join(cache, `cluster-${kind}`)
  if (existsSync(cluster)) return cluster
  const folder = ownFolder('owner-sso-initdb-')
  run('initdb', ['-D', folder, ...flags])
  run('postgres', ['--single', '-F', '-D', folder, '-c', 'min_wal_size=2MB', 'postgres'], withoutTemplates)
  mkdirSync(cache, { recursive: true })
  // On the cache's own disk, so that it appears there whole.
  const whole = mkdtempSync(join(cache, 'new-'))
  execFileSync('cp', ['-a', `${folder}/.`, whole])
  try {
    renameSync(whole, cluster)
  } catch (error) {
    rmSync(whole, { recursive: true })
    if (!existsSync(cluster)) throw error
  }
  rmSync(folder, { recursive: true })
  return cluster
}

/** The user whom servers run as that refuse root: `postgres`, or `nobody`. Nothing where the tests are not root's. */
export function unprivileged(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const users = readFileSync('/etc/passwd', 'utf8')
  const [, uid, gid] = /^postgres:[^:]*:(\d+):(\d+):/mu.exec(users) ?? /^nobody:[^:]*:(\d+):(\d+):/mu.exec(users) ?? []
  return { uid: Number(uid), gid: Number(gid) }
}

/** A new folder that such a server may write into. */
export function ownFolder(prefix: string): string {
  const folder = mkdtempSync(join(tmpdir(), prefix))
  const { uid, gid } = unprivileged()
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid)
  chmodSync(folder, 0o700)
  return folder
}

async function serve(folder: string, settings: Readonly<Record<string, string>>): Promise<PostgresServer> {
  const port = await freePort()
  const url = `postgresql://postgres@127.0.0.1:${port}/postgres`
  const all = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    // What a killed process has written is in the system's memory: only a power loss would need more.
    fsync: 'off',
    shared_buffers: '16MB',
    min_wal_size: '2MB',
    autovacuum: 'off',
    // The connections of one deployment may be there still when the next one opens its own.
    max_connections: '300',
    ...settings,
  }
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  let child: ChildProcess | undefined

  const everyProcess = (): number[] => (child?.pid === undefined ? [] : [child.pid, ...childrenOf(child.pid)])
  const kill = async (): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    const processes = everyProcess()
    for (const id of processes) signal(id, 'SIGKILL')
    await gone
    // A process that is left keeps the shared memory, and the next server from starting.
    for (const id of processes) while (isAlive(id)) await pause(5)
  }
  const stop = async (): Promise<void> => {
    await kill()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  const start = async (): Promise<void> => {
    child = await started(['-D', folder, ...flags])
  }
  const query = async (text: string): Promise<Record<string, unknown>[]> => {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000, query_timeout: 30_000 })
    client.on('error', () => undefined)
    try {
      await client.connect()
      return (await client.query<Record<string, unknown>>(text)).rows
    } finally {
      await client.end()
    }
  }
  await start()
  return {
    port,
    url,
    query,
    kill,
    start,
    freeze: () => everyProcess().forEach((id) => signal(id, 'SIGSTOP')),
    thaw: () => everyProcess().forEach((id) => signal(id, 'SIGCONT')),
    replica: async () => {
      const copy = ownFolder('owner-sso-replica-')
      run('pg_basebackup', ['-D', copy, '-d', url, '-R', '-X', 'stream', '-c', 'fast', '--no-sync'])
      return serve(copy, settings)
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

/** Resolves when it accepts connections. */
async function started(flags: readonly string[]): Promise<ChildProcess> {
  const child = spawn(program('postgres'), flags, { stdio: ['ignore', 'ignore', 'pipe'], ...unprivileged() })
  let output = ''
  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => child.kill('SIGKILL'), longestStart)
    child.once('error', reject)
    child.once('exit', () => {
      clearTimeout(late)
      reject(new Error(`postgres ended:\n${output}`))
    })
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      output = (output + chunk).slice(-10_000)
      if (!/ready to accept (?:read-only )?connections/u.test(output)) return
      clearTimeout(late)
      resolve()
    })
  })
  return child
}

function run(name: string, flags: readonly string[], input = ''): void {
  execFileSync(program(name), flags, { input, stdio: ['pipe', 'ignore', 'pipe'], timeout: 120_000, ...unprivileged() })
}

function program(name: string): string {
  if (programs === undefined) throw new Error('PostgreSQL is not installed')
  return join(programs, name)
}

function binaryFolders(): string[] {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian) : []
  const newestFirst = versions.toSorted((a, b) => Number(b) - Number(a)).map((version) => join(debian, version, 'bin'))
  return [...newestFirst, ...(process.env['PATH'] ?? '').split(':')]
}

/** The process of each connection, and what a server has beside them: each is a session of its own, which no group reaches. */
function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/u.test(name))
    .map(Number)
    .filter((id) => statOf(id)?.parent === parent)
}

/** `undefined` where there is none of that number. */
function statOf(id: number): { readonly state: string; readonly parent: number } | undefined {
  try {
    const [, state = '', parent] = /\) (\S) (\d+) /u.exec(readFileSync(`/proc/${id}/stat`, 'utf8')) ?? []
    return { state, parent: Number(parent) }
  } catch {
    return undefined
  }
}

/** One that has ended stays in the list until its parent looks. */
const isAlive = (id: number): boolean => !['Z', 'X'].includes(statOf(id)?.state ?? 'X')

function signal(id: number, name: NodeJS.Signals): void {
  try {
    process.kill(id, name)
  } catch {
    // It has ended by itself.
  }
}
