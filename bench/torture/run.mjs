/**
 * `npm run torture`: the same faults against token keepers of all kinds, ours among them. It prints what became of each, and draws
 * `docs/reference/torture.md`.
 *
 * `--only WORD` takes the cells whose names have the word, and draws nothing. `--runs 2` plays all of it twice, and fails where verdicts
 * differ. `--seed N` is another game.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { generate } from 'selfsigned'
import { playCell } from './cell.mjs'
import { faults } from './faults.mjs'
import { pageOf } from './page.mjs'
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
    return { module, ...(await import(module)).about }
  }),
)
const wanted = new RegExp(options.only.join('|'), 'u')
const cells = faults
  .flatMap((fault) =>
    candidates.flatMap((candidate) =>
      // Without a refresh in the background it makes no difference how a token came to its end.
      (fault.moments ?? (candidate.isOurs ? ['in use', 'after a night'] : ['in use'])).map((moment) => ({
        ...{ candidate, fault, moment, name: `${candidate.name} | ${fault.title} | ${moment}` },
      })),
    ),
  )
  .filter(({ name }) => options.only.length === 0 || wanted.test(name))

/** Cells that may keep the machine busy at once; many more may wait for a fault to end. */
const [busy, open] = [availableParallelism() + 1, 24]

const closing = new Set()
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
process.on('exit', () => closing.forEach((end) => end()))

const folder = mkdtempSync(join(tmpdir(), 'owner-sso-torture-'))
try {
  const { seed } = options
  const world = { folder, seed, certificate: await certificateFor('127.0.0.1'), turns: turnsFor(busy), closing }
  const began = performance.now()
  const runs = []
  while (runs.length < Number(options.runs)) runs.push(await playAll(world))
  const minutes = Math.ceil((performance.now() - began) / 60_000 / runs.length)
  const [played, ...others] = runs
  const differing = played.filter((cell, index) => others.some((run) => run[index].verdict !== cell.verdict))
  for (const { name } of differing) console.error(`Not the same verdict in each run: ${name}`)
  if (differing.length > 0 || played.some(({ verdict }) => verdict === 'broken')) process.exitCode = 1
  else if (options.only.length === 0) draw({ played, candidates, faults, seed, minutes, runs: runs.length })
} finally {
  await stopSharedServers()
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
}

function draw(results) {
  const page = new URL('../../docs/reference/torture.md', import.meta.url)
  writeFileSync(page, pageOf({ ...results, versionOf }))
  console.log('Drawn: docs/reference/torture.md')
}

function versionOf(name) {
  return JSON.parse(readFileSync(new URL(`../node_modules/${name}/package.json`, import.meta.url), 'utf8')).version
}

/** The longest first, so that the others are played beside them. @returns the cells in their order, with what became of them */
async function playAll(world) {
  const waiting = cells.toSorted((a, b) => (b.fault.lasts ?? 0) - (a.fault.lasts ?? 0))
  const results = new Map()
  async function playOn() {
    for (let cell = waiting.shift(); cell !== undefined; cell = waiting.shift()) {
      const result = await playCell({ ...cell, world }).catch(({ stack }) => ({ verdict: 'broken', stack }))
      results.set(cell, result)
      console.log(`${cell.name} | ${result.verdict} |`, result.stack ?? figuresOf(result))
    }
  }
  await Promise.all(Array.from({ length: open }, playOn))
  return cells.map((cell) => ({ ...cell, ...results.get(cell) }))
}

function figuresOf({ refreshes, replays, revoked, calls, failed, longest, failures }) {
  const seconds = Math.round(longest / 100) / 10
  const causes = failed === 0 ? '' : ` ${JSON.stringify(failures)}`
  return `refreshes ${refreshes}, replays ${replays}, families revoked ${revoked}, callers failed ${failed} of ${calls}, longest wait ${seconds} s${causes}`
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
