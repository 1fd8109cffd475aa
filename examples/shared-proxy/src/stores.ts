/**
 * The store that all instances share, and an instance's connections to it: to Redis one for commands and one that hears of changes, to
 * PostgreSQL a pool for statements and one that hears of changes.
 */
import { StoreError, type TokenStore } from '@owner-sso/core'
import { checkRedis, redisTokenStore } from '@owner-sso/token-store-redis'
import { checkDatabase, createTable, type PostgresClient, sqlTokenStore } from '@owner-sso/token-store-sql'
import pg from 'pg'
import { createClient } from 'redis'
import type { GatewaySettings } from './settings.ts'

type StoreSettings = Pick<GatewaySettings, 'storeUrl' | 'encryptionKeys'>

export interface SharedStore {
  readonly store: TokenStore
  /** What about the server can cost token sets, in sentences. @throws StoreError where it can't be asked */
  readonly problems: () => Promise<readonly string[]>
  readonly close: () => void
}

/** Milliseconds between two attempts to connect. */
export const longestPause = 2000

/** Told once an outage, with a system's code or the first word of the server's answer (`WRONGPASS`, `28P01`). */
type OnDown = (code: string) => void

/** Opens connections. The server need not be there yet. */
export function openStore(settings: StoreSettings, onDown: OnDown): SharedStore {
  return settings.storeUrl.startsWith('postgres') ? openPostgres(settings, onDown) : openRedis(settings, onDown)
}

/** Never the message itself: it may have the address in it. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error ? String(error.code) : (/^[A-Z]{3,}(?= )/u.exec(error.message)?.[0] ?? error.name)
}

function openRedis({ storeUrl, encryptionKeys: encryptionKey }: StoreSettings, onDown: OnDown): SharedStore {
  const client = createClient({
    url: storeUrl,
    // A connection that died without a word is noticed by the missing answer to a ping.
    pingInterval: 5000,
    socket: {
      // Set here because NODE_TLS_REJECT_UNAUTHORIZED could turn it off: the password and the tokens go there.
      ...(storeUrl.startsWith('rediss:') && ({ tls: true, rejectUnauthorized: true } as const)),
      connectTimeout: 2000,
      socketTimeout: 15_000,
      reconnectStrategy: (attempts) => Math.min(50 * 2 ** attempts, longestPause),
    },
  })
  const subscriber = client.duplicate()
  let isDown = false
  client.on('ready', () => {
    isDown = false
  })
  client.on('error', (error: unknown) => {
    if (!isDown) onDown(codeOf(error))
    isDown = true
  })
  // Its errors are those of the other connection.
  subscriber.on('error', () => undefined)
  // Rejects only where it was closed before it stood: until then it is tried for again and again.
  for (const each of [client, subscriber]) each.connect().catch(() => undefined)
  return {
    store: redisTokenStore({ client, subscriber, encryptionKey }),
    problems: async () => (await checkRedis(client)).map(({ message }) => message),
    close: () => {
      client.destroy()
      subscriber.destroy()
    },
  }
}

/** Opens connections as they are needed, and makes the table where there is none and this user may. */
function openPostgres({ storeUrl, encryptionKeys: encryptionKey }: StoreSettings, onDown: OnDown): SharedStore {
  const connection = connectionTo(storeUrl)
  const pool = new pg.Pool(connection)
  let isDown = false
  const down = (error: unknown): void => {
    if (!isDown) onDown(codeOf(error))
    isDown = true
  }
  // A connection that broke while nobody used it is replaced by the next statement's.
  pool.on('error', () => undefined)

  let table: Promise<void> | undefined
  const client: PostgresClient = {
    async query(text, values) {
      try {
        await (table ??= madeTable(pool))
        const answer = await pool.query(text, values)
        isDown = false
        return answer
      } catch (error) {
        if (error instanceof StoreError) table = undefined
        if (!isRejection(error)) down(error)
        throw error
      }
    },
  }
  let listener: pg.Client | undefined
  const subscriber = async (): Promise<pg.Client> => {
    listener = new pg.Client(connection)
    await listener.connect()
    return listener
  }
  const store = sqlTokenStore({ client, subscriber, encryptionKey })

  return {
    store,
    problems: async () => (await checkDatabase(client)).map(({ message }) => message),
    close: () => {
      for (const each of [pool, listener]) each?.end().catch(() => undefined)
    },
  }
}

/** Who may not make a table uses the one that is there. */
async function madeTable(pool: pg.Pool): Promise<void> {
  try {
    await createTable(pool)
  } catch (error) {
    if (!(error instanceof StoreError && error.reason === 'permissions')) throw error
  }
}

/** An answer of a server that is there: that others were writing, for example. */
function isRejection(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(?:[24]|55)/u.test(error.code ?? '') && !error.code?.startsWith('28')
}

/** TLS, verified, unless `sslmode` is absent or `disable`. */
function connectionTo(address: string): pg.PoolConfig {
  const url = new URL(address)
  const mode = url.searchParams.get('sslmode') ?? 'disable'
  // pg would let it decide whether the certificate is verified; and so would the environment.
  url.searchParams.delete('sslmode')
  return {
    connectionString: url.href,
    connectionTimeoutMillis: 2000,
    query_timeout: 2000,
    keepAlive: true,
    ssl: mode !== 'disable' && { rejectUnauthorized: true },
  }
}
