/**
 * `npm run torture`: the same faults against token keepers of all kinds, ours among them. It prints what became of each, and draws
 * `docs/reference/torture.md`.
 *
 * `--only WORD` takes candidates and faults whose names have the word, and draws nothing. `--runs 2` plays all of it twice, and fails
 * where the verdicts differ. `--seed N` is another game.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { generate } from 'selfsigned'
import { playCell } from './cell.mjs'
import { faults } from './faults.mjs'
import { stopSharedServers } from './stores.mjs'

const names = [
  ...['owner-sso-file', 'owner-sso-redis', 'owner-sso-postgres', 'owner-sso-sqlite'],
  ...['msal-node', 'google-auth-library', 'simple-oauth2-set-nx', 'simple-oauth2-redlock'],
  ...['openid-client', 'next-auth', 'passport-oauth2-refresh'],
]
const { values: options } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    runs: { type: 'string', default: '1' },
    seed: { type: 'string', default: '46' },
  },
})

const candidates = await Promise.all(
  names.map(async (name) => {
    const module = new URL(`candidates/${name}.mjs`, import.meta.url).href
    return { module, about: (await import(module)).about }
  }),
)
const isWanted = ({ candidate, fault, moment }) =>
  options.only.every((word) => `${candidate.about.name}, ${fault.title}, ${moment}`.includes(word))
const cells = faults
  .flatMap((fault) =>
    candidates.flatMap((candidate) =>
      // Without a refresh in the background it makes no difference how a token came to its end.
      (fault.moments ?? (candidate.about.isOurs ? ['in use', 'after a night'] : ['in use'])).map((moment) => ({
        ...{ candidate, fault, moment },
      })),
    ),
  )
  .filter(isWanted)

/** Cells that may keep the machine busy at once; many more may wait for a fault to end. */
const [busy, open] = [availableParallelism() + 1, 24]

const closing = new Set()
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
process.on('exit', () => closing.forEach((end) => end()))

const folder = mkdtempSync(join(tmpdir(), 'owner-sso-torture-'))
try {
  const certificate = await certificateFor('127.0.0.1')
  const world = { folder, seed: options.seed, certificate, turns: turnsFor(busy), closing }
  const began = performance.now()
  const results = await playAll(world)
  console.log(`${Math.round((performance.now() - began) / 1000)} s`)
  writeFileSync('/tmp/torture-results.json', JSON.stringify(results, undefined, 1))
} finally {
  await stopSharedServers()
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
}

/** The longest first, so that the others are played beside them. */
async function playAll(world) {
  const waiting = cells.toSorted((a, b) => (b.fault.lasts ?? 0) - (a.fault.lasts ?? 0))
  const played = []
  async function playOn() {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { candidate, fault, moment } = next
      const began = performance.now()
      const result = await playCell({ ...next, world }).catch((error) => ({ verdict: 'broken', error: String(error.stack) }))
      played.push({ candidate: candidate.about.name, fault: fault.title, moment, ...result })
      const { failures, ...shown } = result
      console.log(candidate.about.name, '|', fault.title, '|', moment, '|', JSON.stringify(shown), JSON.stringify(failures), Math.round((performance.now() - began) / 1000) + 's')
    }
  }
  await Promise.all(Array.from({ length: open }, playOn))
  return played
}

async function certificateFor(ip) {
  const extensions = [
    { name: 'basicConstraints', cA: true },
    { name: 'subjectAltName', altNames: [{ type: 7, ip }] },
  ]
  const { private: key, cert } = await generate([{ name: 'commonName', value: ip }], { extensions })
  const file = join(folder, 'certificate.pem')
  writeFileSync(file, cert)
  return { key, cert, file }
}

/** So many at once; the others stand in line. */
function turnsFor(most) {
  let free = most
  const line = []
  return {
    async take() {
      if (free > 0) free -= 1
      else await new Promise((resolve) => line.push(resolve))
    },
    giveBack() {
      const next = line.shift()
      if (next === undefined) free += 1
      else next()
    },
  }
}
