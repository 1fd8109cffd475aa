/**
 * A herd: an access token has expired, and 8 processes × 25 callers ask at once. `node bench/herd.mjs [ROUNDS]`.
 *
 * The service takes 50 ms for a refresh. The floor, measured in the same run, is one caller alone: its own refresh, with all
 * that the store adds to it. The figure is the time until the slowest of the 200 callers has the new token. Without its
 * second connection, the `subscriber`, a store in Redis or PostgreSQL has no hint to give, and waiters look every 25 to 250 ms.
 * Needs redis-server and PostgreSQL.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startEmulator } from '@owner-sso/emulator'
import { startPostgres } from './postgres-server.mjs'
import { startRedis } from './redis-server.mjs'

const rounds = Number(process.argv[2] ?? 40)
const [processes, callers, refreshTakes] = [8, 25, 50]
/** Milliseconds beyond the refresh. */
const budgets = { file: 300, Redis: 150, PostgreSQL: 100, polled: 250 }

const folder = mkdtempSync(join(tmpdir(), 'owner-sso-herd-'))
const emulator = await startEmulator({ firewall: false })
emulator.always('refresh', { delay: refreshTakes })
const redis = await startRedis(folder)
// PostgreSQL runs as a user of its own, who needs a folder of its own.
const database = mkdtempSync(join(tmpdir(), 'owner-sso-herd-'))
const postgres = await startPostgres(database)

const rows = { file: await measure({ kind: 'file', path: join(folder, 'tokens') }, budgets.file) }
if (redis) {
  rows.Redis = await measure({ kind: 'redis', url: redis.url }, budgets.Redis)
  rows['Redis without a subscriber'] = await measure({ kind: 'redis, polled', url: redis.url }, budgets.Redis)
} else console.log('redis-server is not here.')
if (postgres) {
  rows.PostgreSQL = await measure({ kind: 'postgres', url: postgres.url }, budgets.PostgreSQL)
  rows['PostgreSQL without LISTEN'] = await measure({ kind: 'postgres, polled', url: postgres.url }, budgets.polled)
} else console.log('PostgreSQL is not here.')
console.table(rows)

redis?.stop()
await postgres?.stop()
await emulator.close()
for (const each of [folder, database]) rmSync(each, { recursive: true })

async function measure(store, budget) {
  const herd = Array.from({ length: processes }, startProcess)
  await Promise.all(herd.map((each) => each.ask('open', { authUrl: emulator.authUrl, store })))
  await Promise.all(herd.map(async (each) => each.ask('warm', { tokenSet: await expiredTokens() })))
  const alone = []
  const slowest = []
  const before = { ...emulator.counters }
  for (let round = 0; round < rounds; round += 1) {
    // An account of its own each round, so that no process remembers it.
    const [lonely, crowded] = [`lonely-${store.kind}-${round}`, `crowded-${store.kind}-${round}`]
    await herd[0].ask('save', { account: lonely, tokenSet: await expiredTokens() })
    await herd[0].ask('save', { account: crowded, tokenSet: await expiredTokens() })
    alone.push(await herd[1].ask('ask', { account: lonely, callers: 1 }))
    slowest.push(Math.max(...(await Promise.all(herd.map((each) => each.ask('ask', { account: crowded, callers }))))))
  }
  herd.forEach((each) => each.stop())
  const refreshes = (emulator.counters.tokenRefreshes - before.tokenRefreshes - rounds) / rounds
  const beyond = quantile(slowest, 0.5) - refreshTakes
  return {
    'refreshes a round': refreshes,
    replays: emulator.counters.replays - before.replays,
    'one caller alone, ms': Math.round(quantile(alone, 0.5)),
    'slowest of 200, median ms': Math.round(quantile(slowest, 0.5)),
    'p95 ms': Math.round(quantile(slowest, 0.95)),
    'beyond the refresh, ms': Math.round(beyond),
    'budget, ms': budget ?? 'none',
    'to one alone': Number((quantile(slowest, 0.5) / quantile(alone, 0.5)).toFixed(2)),
  }
}

/** A token set whose access token has ended. */
async function expiredTokens() {
  const { access_token, refresh_token } = await emulator.issueTokens('plain@example.com')
  const auth_url = emulator.authUrl
  return { access_token, refresh_token, token_type: 'Bearer', expires_at: Math.floor(Date.now() / 1000) - 1, auth_url }
}

function startProcess() {
  const child = fork(fileURLToPath(new URL('herd/process.mjs', import.meta.url)), { execArgv: ['--no-warnings'] })
  return {
    async ask(command, details) {
      child.send({ command, ...details })
      const [{ answer }] = await once(child, 'message')
      return answer
    },
    stop: () => child.disconnect(),
  }
}

function quantile(values, share) {
  return values.toSorted((a, b) => a - b)[Math.floor(share * (values.length - 1))]
}
