/** The clients that an application brings: axios for calls of the owner API, a client of Redis or SQLite for its store. */
import { spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, write } from '../project.mjs'
import { printsVehicles } from '../sign-in.mjs'

const signedIn = (store) => `
import { createSso, createTokenManager } from '@owner-sso/core'
const { OWNER_SSO_ACCOUNT: account, OWNER_SSO_CREDENTIAL: credential, OWNER_SSO_AUTH_URL: authUrl } = process.env
const { OWNER_SSO_API_URL: target } = process.env
const sso = createSso({ authUrl })
const tokens = createTokenManager({ issuer: sso, store: ${store} })
await tokens.save(account, await sso.login({ identity: account, credential }))
`

const withAxios = `
import axios from 'axios'
import { attachBearer, ownerFetch } from '@owner-sso/express'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
${signedIn('memoryTokenStore()')}
const http = attachBearer(axios.create({ baseURL: target }), { tokens, account })
console.log(JSON.stringify((await http.get('/api/1/vehicles')).data))
`

const withRedis = (connect) => `
import { redisTokenStore } from '@owner-sso/token-store-redis'
${connect}
${signedIn('redisTokenStore({ client })')}
console.log(await (await ownerFetch({ tokens, account, target })('/api/1/vehicles')).text())
process.exit(0)
`

const withSqlite = (library) => `
import Database from '${library}'
import { checkDatabase, createTable, sqlTokenStore } from '@owner-sso/token-store-sql'
const client = new Database('tokens.db')
client.exec('PRAGMA journal_mode = WAL')
client.exec('PRAGMA synchronous = FULL')
for (let times = 0; times < 2; times += 1) await createTable(client)
for (const { message } of await checkDatabase(client)) throw new Error(message)
const store = sqlTokenStore({ client })
${signedIn('store')}
await tokens.refresh(account)
const conflict = await store.swap(account, 7, (await store.read(account)).record, 'another')
if (!('conflict' in conflict)) throw new Error('This swap should have found another version')
for await (const name of tokens.accounts()) if (name !== account) throw new Error('There is another account')
console.log(await (await ownerFetch({ tokens, account, target })('/api/1/vehicles')).text())
client.close()
`

const nodeRedis = `
import { createClient } from 'redis'
const client = await createClient({ url: process.env.REDIS_URL }).connect()`
const ioredis = `
import { Redis } from 'ioredis'
const client = new Redis(process.env.REDIS_URL)`

const clients = [
  ...['1.19.0', '1'].map((version) => ({ subject: 'axios', name: 'axios', version, program: withAxios })),
  ...['5', '6'].map((version) => ({ subject: 'Redis clients', name: 'redis', version, program: withRedis(nodeRedis) })),
  ...['5', '6'].map((version) => ({ subject: 'Redis clients', name: 'ioredis', version, program: withRedis(ioredis) })),
  ...[
    // Where there is no build of it for a platform, npm compiles it: a minute.
    { name: 'better-sqlite3', version: '12' },
    { name: 'libsql', version: '0.5' },
  ].map((library) => ({ subject: 'SQLite clients', ...library, program: withSqlite(library.name) })),
]

/** A real server, on a port of its own, that keeps nothing. */
async function redisServer(folder) {
  const port = await freePort()
  const server = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', mkdtempSync(join(folder, 'redis-'))],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  await new Promise((resolve, reject) => {
    server.once('error', reject).once('exit', (code) => reject(new Error(`redis-server ended with ${code}`)))
    server.stdout.on('data', (text) => String(text).includes('Ready to accept connections') && resolve())
  })
  return { url: `redis://127.0.0.1:${port}`, stop: () => server.kill() }
}

export const otherClients = {
  title: 'Clients',
  prepare: () => undefined,
  rows: clients.map(({ subject, name, version, program }) => ({
    name: `${name} ${version}`,
    covers: { [subject]: `${name === 'redis' ? 'node-redis' : name} ${version}` },
    async run(_state, { project, folder }) {
      const stores = ['token-store-memory', 'token-store-redis', 'token-store-sql']
      const ours = ['core', 'express', ...stores].map((each) => `@owner-sso/${each}`)
      const here = await project(...ours, `${name}@${version}`)
      write(here, 'program.mjs', program)
      const redis = subject === 'Redis clients' ? await redisServer(folder) : undefined
      try {
        await printsVehicles(process.execPath, ['program.mjs'], { cwd: here, env: { REDIS_URL: redis?.url ?? '' } })
      } finally {
        redis?.stop()
      }
    },
  })),
}
