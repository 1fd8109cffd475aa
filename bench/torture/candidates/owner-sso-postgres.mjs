/** owner-sso with PostgreSQL. */
export const about = { name: 'owner-sso, PostgreSQL', packages: ['@owner-sso/token-store-sql'], store: 'postgres' }

export async function open({ settings, service }) {
  const { openOurs } = await import('../applications/owner-sso.mjs')
  const { createTable, sqlTokenStore } = await import('@owner-sso/token-store-sql')
  const { default: pg } = await import('pg')
  const limits = { connectionTimeoutMillis: 2000, query_timeout: 2000 }
  const client = new pg.Pool({ connectionString: settings.url, ...limits }).on('error', () => {})
  await createTable(client)
  const subscriber = async () => {
    const listener = new pg.Client(settings.url)
    await listener.connect()
    return listener
  }
  return openOurs(sqlTokenStore({ client, subscriber }), service)
}
