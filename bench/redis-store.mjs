/**
 * The Redis store beside a bare GET and JSON.parse: `node bench/redis-store.mjs [ACCOUNTS]`. Ratios, all in one run. Needs
 * redis-server.
 *
 * A record is 3 KB. "A refresh" is the store's part of one: the service answers at once, and the token set is as long as the
 * record. What the commands of a refresh are, and that they are three round trips, is a test of the package.
 */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTokenManager } from '@owner-sso/core'
import { redisTokenStore } from '@owner-sso/token-store-redis'
import { createClient } from 'redis'
import { startRedis } from './redis-server.mjs'

const accounts = Number(process.argv[2] ?? 10_000)
const rounds = 3000
const record = { schema: 1, state: 'signed-in', filling: 'x'.repeat(3000) }
const folder = mkdtempSync(join(tmpdir(), 'owner-sso-bench-'))
const redis = await startRedis(folder)
if (!redis) throw new Error('redis-server is not on the PATH')
const client = await createClient({ url: redis.url }).connect()
const store = redisTokenStore({ client })

const versions = new Map()
let visits = 0
const nextAccount = () => `owner-${visits++ % accounts}@example.com`
async function update() {
  const account = nextAccount()
  const { version } = await store.swap(account, versions.get(account) ?? 0, record, randomUUID())
  versions.set(account, version)
}
for (let made = 0; made < accounts; made += 100) await Promise.all(Array.from({ length: 100 }, update))
await client.set('bare', JSON.stringify(record))

const now = Math.floor(Date.now() / 1000)
const tokenSet = (name) => ({
  access_token: `${name}${'x'.repeat(3000)}`,
  refresh_token: name,
  token_type: 'Bearer',
  expires_at: now + 28_800,
  auth_url: 'http://127.0.0.1',
})
let serial = 0
const sso = { refresh: async () => tokenSet(`t${(serial += 1)}`) }
const tokens = createTokenManager({ issuer: sso, store, minRefreshInterval: 0 })
const account = 'ann@example.com'
await tokens.save(account, tokenSet('t0'))

const read = 'read'
const bareRead = 'bare GET + JSON.parse'
const bareWrite = 'bare SET + JSON.stringify'
const refresh = 'a refresh'
const candidates = {
  [bareRead]: async () => JSON.parse(await client.get('bare')),
  [read]: () => store.read(nextAccount()),
  [bareWrite]: () => client.set('bare', JSON.stringify(record)),
  update,
  [refresh]: async () => {
    await tokens.invalidate(account, `t${serial}${'x'.repeat(3000)}`)
    await tokens.getAccessToken(account)
  },
}

/** Microseconds of every call; the candidates take turns call by call, so that all meet the same machine. */
const times = new Map(Object.keys(candidates).map((name) => [name, []]))
for (let round = 0; round < rounds; round += 1) {
  for (const [name, call] of Object.entries(candidates)) {
    const began = process.hrtime.bigint()
    await call()
    times.get(name).push(Number(process.hrtime.bigint() - began) / 1000)
  }
}
client.destroy()
redis.stop()
rmSync(folder, { recursive: true })
if (serial !== rounds) throw new Error(`${serial} refreshes in ${rounds} rounds`)

const median = (name) => times.get(name).toSorted((a, b) => a - b)[rounds >> 1]
const row = (name, floor, budget) => ({
  'µs, median': Math.round(median(name)),
  ratio: Number((median(name) / median(floor)).toFixed(2)),
  to: floor,
  budget,
})
console.table({
  [bareRead]: row(bareRead, bareRead),
  [`read, ${accounts} accounts`]: row(read, bareRead, 1.2),
  [bareWrite]: row(bareWrite, bareWrite),
  [`update, ${accounts} accounts`]: row('update', bareWrite),
  'a refresh, three round trips': row(refresh, bareRead),
})
