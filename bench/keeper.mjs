/**
 * What a keeper's sweep costs as the store grows: `node --expose-gc bench/keeper.mjs [file|redis] [ACCOUNTS…]`, after
 * `npm run build`. A sweep in which nothing is due: it reads each record once. Per account it costs the same however many
 * there are, and its memory stays flat. Ratios count, times do not. Redis needs redis-server.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTokenManager, sweepOnce } from '@owner-sso/core'
import { fileTokenStore } from '@owner-sso/token-store-file'
import { redisTokenStore } from '@owner-sso/token-store-redis'
import { createClient } from 'redis'
import { startRedis } from './redis-server.mjs'

const [first = '', ...others] = process.argv.slice(2)
const only = /^[a-z]/u.test(first) ? first : undefined
const counts = (only === undefined ? [first, ...others] : others).map(Number).filter((count) => count > 0)
const sizes = counts.length > 0 ? counts : [1000, 10_000, 100_000]

const stores = {
  async file(folder) {
    return { store: fileTokenStore({ path: join(folder, 'tokens') }), close: async () => {} }
  },
  async redis(folder) {
    const server = await startRedis(folder)
    if (!server) throw new Error('redis-server is not on the PATH')
    const client = await createClient({ url: server.url }).connect()
    return {
      store: redisTokenStore({ client }),
      async close() {
        client.destroy()
        server.stop()
      },
    }
  },
}

const rows = {}
for (const [kind, open] of Object.entries(stores)) {
  if (only !== undefined && only !== kind) continue
  let smallest
  for (const size of sizes) {
    const folder = mkdtempSync(join(tmpdir(), 'owner-sso-bench-'))
    const { store, close } = await open(folder)
    try {
      await fill(store, size)
      const { cpu, memory } = await measure(store, size)
      const perAccount = cpu / size
      smallest ??= perAccount
      rows[`${kind}, ${size.toLocaleString('en')} accounts`] = {
        'CPU ms, sweep': Math.round(cpu),
        'µs per account': Math.round(perAccount * 1000),
        'per account, ratio': Number((perAccount / smallest).toFixed(2)),
        'peak MB beyond start': Math.round(memory),
      }
    } finally {
      await close()
      rmSync(folder, { recursive: true })
    }
  }
}
console.table(rows)

async function fill(store, size) {
  const now = Math.floor(Date.now() / 1000)
  const record = (index) => ({
    schema: 1,
    state: 'signed-in',
    generation: 1,
    refreshes: 0,
    lineage: `l${index}`,
    tokens: {
      access_token: 'x'.repeat(800),
      refresh_token: `r${index}${'x'.repeat(800)}`,
      token_type: 'Bearer',
      expires_at: now + 28_800,
      auth_url: 'http://127.0.0.1:9',
    },
    obtained_at: now,
    lifetime: 28_800,
  })
  for (let index = 0; index < size; index += 50) {
    const some = Array.from({ length: Math.min(50, size - index) }, (_, offset) => index + offset)
    await Promise.all(some.map((each) => store.swap(`owner-${each}@example.com`, 0, record(each), `w${each}`)))
  }
}

/** CPU milliseconds of one sweep, and the most of the heap in use beyond its start. */
async function measure(store, size) {
  const never = { refresh: () => Promise.reject(new Error('Nothing is due.')) }
  const tokens = createTokenManager({ sso: never, store })
  globalThis.gc?.()
  const start = process.memoryUsage().heapUsed
  let most = start
  const watch = setInterval(() => {
    globalThis.gc?.()
    most = Math.max(most, process.memoryUsage().heapUsed)
  }, 500)
  const before = process.cpuUsage()
  const { accounts, due } = await sweepOnce(tokens)
  const { user, system } = process.cpuUsage(before)
  clearInterval(watch)
  if (accounts !== size || due !== 0) throw new Error(`${accounts} accounts, ${due} due`)
  return { cpu: (user + system) / 1000, memory: (most - start) / 2 ** 20 }
}
