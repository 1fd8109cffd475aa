/** owner-sso with SQLite, by a library that every Node has. */
export const about = { name: 'owner-sso, SQLite', packages: ['@owner-sso/token-store-sql'], store: 'sqlite' }

export async function open({ settings, service }) {
  const { openOurs } = await import('../applications/owner-sso.mjs')
  const { createTable, sqlTokenStore } = await import('@owner-sso/token-store-sql')
  const { default: Database } = await import('libsql')
  const client = new Database(settings.path)
  client.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  await createTable(client)
  return openOurs(sqlTokenStore({ client }), service)
}
