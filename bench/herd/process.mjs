/** One process of the herd: `fork` it, say which store and service, and it lets callers run whenever it is told an account. */
import { createSso, createTokenManager } from '@owner-sso/core'

let tokens
let sso

async function openStore({ kind, path, url }) {
  if (kind === 'file') return (await import('@owner-sso/token-store-file')).fileTokenStore({ path })
  if (kind.startsWith('postgres')) return openPostgres(kind, url)
  const { createClient } = await import('redis')
  const { redisTokenStore } = await import('@owner-sso/token-store-redis')
  // The server's end, after the measurement, is no news.
  const connect = () =>
    createClient({ url })
      .on('error', () => {})
      .connect()
  const [client, subscriber] = await Promise.all([connect(), kind === 'redis' ? connect() : undefined])
  return redisTokenStore({ client, ...(subscriber && { subscriber }) })
}

async function openPostgres(kind, url) {
  const { createTable, sqlTokenStore } = await import('@owner-sso/token-store-sql')
  const { default: pg } = await import('pg')
  const client = new pg.Pool({ connectionString: url, max: 4 })
  // The server's end, after the measurement, is no news.
  client.on('error', () => {})
  await createTable(client)
  const subscriber = async () => {
    const listener = new pg.Client(url)
    await listener.connect()
    return listener
  }
  return sqlTokenStore({ client, ...(kind === 'postgres' && { subscriber }) })
}

const commands = {
  async open({ authUrl, store }) {
    sso = createSso({ authUrl })
    tokens = createTokenManager({ issuer: sso, store: await openStore(store) })
  },
  /** What a refresh needs is loaded by the first one, in every process. */
  warm: async ({ tokenSet }) => void (await sso.refresh(tokenSet)),
  save: ({ account, tokenSet }) => tokens.save(account, tokenSet),
  /** Milliseconds until the slowest of so many callers has the token. */
  async ask({ account, callers }) {
    const asked = performance.now()
    await Promise.all(Array.from({ length: callers }, () => tokens.getAccessToken(account)))
    return performance.now() - asked
  },
}

process.on('message', (message) => void obey(message))
process.on('disconnect', () => process.exit(0))

async function obey({ command, ...details }) {
  process.send({ answer: (await commands[command](details)) ?? null })
}
