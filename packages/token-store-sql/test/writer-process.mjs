/** What a killed writer runs: `node writer-process.mjs <kind> <address> <table> <account>`; prints each acknowledged version. */
import { writeSync } from 'node:fs'
import { writeUntilKilled } from '@owner-sso/token-store-conformance'
import { Pool } from 'pg'
import { sqlTokenStore } from '../dist/index.js'

const [, , kind, address, tableName, account] = process.argv
const clients = {
  postgresql: async () => new Pool({ connectionString: address }),
  libsql: async () => new (await import('libsql')).default(address),
  'node:sqlite': async () => new (process.getBuiltinModule('node:sqlite').DatabaseSync)(address),
}
const client = await clients[kind]()
if (kind !== 'postgresql') client.exec('PRAGMA synchronous = FULL')
await writeUntilKilled(sqlTokenStore({ client, tableName }), account, (version) => writeSync(1, `${version}\n`))
