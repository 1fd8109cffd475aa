/**
 * The gateway's connections to Redis: one for commands, one that hears of changes.
 */
import type { TokenStore } from '@owner-sso/core'
import { checkRedis, redisTokenStore } from '@owner-sso/token-store-redis'
import { createClient } from 'redis'
import type { Settings } from './settings.ts'

export interface RedisStore {
  readonly store: TokenStore
  /** What about the server can cost token sets, in sentences. @throws StoreError where it can't be asked */
  readonly problems: () => Promise<readonly string[]>
  /** Resolves when the first connection stands; until then, and whenever it is gone, it is tried for again and again. */
  readonly connected: Promise<void>
  readonly close: () => void
}

/** Milliseconds between two attempts to connect. */
const longestPause = 2000

/**
 * Opens both connections. Redis need not be there yet.
 *
 * @param onDown - told once an outage, with a system's code or the first word of Redis's answer (`WRONGPASS`)
 */
export function openRedis(
  { storeUrl, encryptionKeys: encryptionKey }: Pick<Settings, 'storeUrl' | 'encryptionKeys'>,
  onDown: (code: string) => void = () => undefined,
): RedisStore {
  const client = createClient({
    url: storeUrl,
    // A connection that died without a word is noticed by the missing answer to a ping.
    pingInterval: 5000,
    socket: {
      // Stated, because the environment could turn it off: what goes there is the password, and the tokens.
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
  // It fails with the other one.
  subscriber.on('error', () => undefined)
  const connected = Promise.all([client.connect(), subscriber.connect()]).then(() => undefined)
  // Rejects only where it was closed before it stood.
  connected.catch(() => undefined)
  return {
    store: redisTokenStore({ client, subscriber, ...(encryptionKey && { encryptionKey }) }),
    problems: async () => (await checkRedis(client)).map(({ message }) => message),
    connected,
    close: () => {
      client.destroy()
      subscriber.destroy()
    },
  }
}

/** Never the message itself: it may have the address in it. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error ? String(error.code) : (/^[A-Z]{3,}(?= )/u.exec(error.message)?.[0] ?? error.name)
}
