/**
 * `sqlite:PATH`: a file of this machine, by the SQLite that Node brings along.
 */
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { StoreError } from '@owner-sso/core'
import { usageError } from '../failure/command-error.ts'
import { note } from '../terminal/finding.ts'
import { storePath } from '../machine/folders.ts'
import type { OpenedStore, StoreAccess, StoreKind } from './store-kind.ts'

export const sqliteStore: StoreKind = {
  forms: ['sqlite:PATH'],
  parse(address) {
    const path = address.startsWith('sqlite:') ? address.slice('sqlite:'.length) : ''
    return path === '' ? undefined : storePath(path)
  },
  exists: existsSync,
  shown: (path) => `sqlite:${path}`,
  open: openSqlite,
}

/** As far as it is used: the types of the oldest Node have none of it. */
interface NodeSqlite {
  readonly DatabaseSync: new (path: string) => {
    exec(text: string): void
    prepare(text: string): { all(values: Record<string, string | number | null>): unknown[] }
    close(): void
  }
}

async function openSqlite(path: string, { encryptionKey }: StoreAccess): Promise<OpenedStore> {
  const { DatabaseSync } = nodeSqlite()
  const { checkDatabase, createTable, sqlTokenStore } = await import('@owner-sso/token-store-sql')
  const client = opened(DatabaseSync, path)
  await createTable(client)
  return {
    store: sqlTokenStore({ client, encryptionKey }),
    sealed: encryptionKey !== undefined,
    check: async () => [
      (await import('./folder-check.ts')).checkMode(path, '600'),
      ...(await checkDatabase(client)).map(({ message }) => note('store', message, 'Look at the file.')),
    ],
    close: async () => client.close(),
  }
}

function nodeSqlite(): NodeSqlite {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- unknown to the types of the oldest Node
  const module = process.getBuiltinModule('node:sqlite' as 'node:os') as unknown as NodeSqlite | undefined
  if (module !== undefined) return module
  throw usageError(
    `Node ${process.versions.node} has no SQLite.`,
    'Run the command with Node 22.13 or newer, or keep the tokens in a folder (file:PATH).',
  )
}

/** Private from its first byte on; SQLite gives the files beside it the same mode. */
function opened(DatabaseSync: NodeSqlite['DatabaseSync'], path: string): InstanceType<NodeSqlite['DatabaseSync']> {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    closeSync(openSync(path, 'a', 0o600))
  } catch (error) {
    throw new StoreError('permissions', `The file ${path} can’t be written.`, { cause: error })
  }
  try {
    const client = new DatabaseSync(path)
    client.exec('PRAGMA journal_mode = WAL')
    client.exec('PRAGMA synchronous = FULL')
    return client
  } catch (error) {
    throw new StoreError('unavailable', `The file ${path} can’t be opened as a SQLite database.`, { cause: error })
  }
}
