/** owner-sso with SQLite, by a library that every Node has. */
export const about = {
  name: 'owner-sso, SQLite',
  isOurs: true,
  packages: ['@owner-sso/token-manager', '@owner-sso/token-store-sql', 'libsql'],
  documentation: '../../packages/token-store-sql/README.md',
  processes: 8,
  store: 'sqlite',
}

export async function open({ settings, service }) {
  const { openOurs } = await import('./shared/ours.mjs')
  const { createTable, sqlTokenStore } = await import('@owner-sso/token-store-sql')
  const { default: Database } = await import('libsql')
  const client = new Database(settings.path)
  client.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  await createTable(client)
  return openOurs(sqlTokenStore({ client }), service)
}
