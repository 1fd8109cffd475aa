/**
 * The file store beside write-file-atomic and a bare read: `node bench/file-store.mjs [accounts]`. Ratios, all in one run.
 *
 * Every update is durable on both sides (fsync); a record is 3 KB. "Flat" compares an update among many accounts with one
 * among few, the accounts of both being visited in turn.
 */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileTokenStore } from '@owner-sso/token-store-file'
import writeFileAtomic from 'write-file-atomic'

const accounts = Number(process.argv[2] ?? 10_000)
const folder = mkdtempSync(join(tmpdir(), 'owner-sso-bench-'))
const record = { schema: 1, state: 'signed-in', filling: 'x'.repeat(3000) }
const single = join(folder, 'single.json')

/** A store of so many accounts, and an update of the next of them. */
async function storeOf(count) {
  const store = fileTokenStore({ path: join(folder, `store-${count}`) })
  const versions = Array.from({ length: count }, () => 0)
  let next = 0
  const update = async () => {
    const account = next++ % count
    const answer = await store.swap(`owner-${account}@example.com`, versions[account], record, randomUUID())
    versions[account] = answer.version
  }
  // Three versions each: from then on every update prunes one. Made side by side, where there are many.
  for (let made = 0; made < 3 * count; made += Math.min(count, 100)) {
    await Promise.all(Array.from({ length: Math.min(count, 100) }, update))
  }
  return { update, read: () => store.read(`owner-${next++ % count}@example.com`) }
}

const candidates = {
  'write-file-atomic': () => writeFileAtomic(single, JSON.stringify(record), { mode: 0o600 }),
  'readFile + JSON.parse': async () => JSON.parse(await readFile(single, 'utf8')),
}
await candidates['write-file-atomic']()
for (const count of [1, 10, accounts]) {
  const { update, read } = await storeOf(count)
  candidates[`update, ${count} accounts`] = update
  candidates[`read, ${count} accounts`] = read
}

/** Microseconds of every call; the candidates take turns call by call, so that all meet the same disk. */
const times = new Map(Object.keys(candidates).map((name) => [name, []]))
for (let round = 0; round < 1000; round += 1) {
  for (const [name, call] of Object.entries(candidates)) {
    const started = process.hrtime.bigint()
    await call()
    times.get(name).push(Number(process.hrtime.bigint() - started) / 1000)
  }
}
rmSync(folder, { recursive: true })

const median = (name) => times.get(name).toSorted((a, b) => a - b)[500]
const row = (name, floor) => ({
  'µs, median': Math.round(median(name)),
  ratio: Number((median(name) / median(floor)).toFixed(2)),
  to: floor,
})
const few = 'update, 1 accounts'
console.table({
  'write-file-atomic': row('write-file-atomic', 'write-file-atomic'),
  ...Object.fromEntries(
    [1, 10, accounts].map((n) => [`update, ${n} accounts`, row(`update, ${n} accounts`, 'write-file-atomic')]),
  ),
  [`flat to ${accounts} accounts`]: row(`update, ${accounts} accounts`, few),
  'readFile + JSON.parse': row('readFile + JSON.parse', 'readFile + JSON.parse'),
  ...Object.fromEntries(
    [1, 10, accounts].map((n) => [`read, ${n} accounts`, row(`read, ${n} accounts`, 'readFile + JSON.parse')]),
  ),
})
