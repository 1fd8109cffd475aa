/**
 * `npm run torture`: the same faults against token keepers of all kinds, ours among them. It prints what became of each, and draws
 * `docs/reference/torture.md`.
 *
 * `--only EXPRESSION` takes the cells whose names match, and draws nothing. `--runs 2` plays all of it twice, and fails where verdicts
 * differ. `--seed TEXT` is another game.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { generate } from 'selfsigned'
import { playCell } from './cell.mjs'
import { faults } from './faults.mjs'
import { pageOf, rowOf } from './page.mjs'
import { stopSharedServers } from './stores.mjs'

const text = (fallback) => ({ type: 'string', default: fallback })
const { only, runs, seed } = parseArgs({ options: { only: text(''), runs: text('1'), seed: text('46') } }).values

const files = readdirSync(new URL('candidates', import.meta.url)).filter((name) => name.endsWith('.mjs'))
const modules = files.map((name) => new URL(`candidates/${name}`, import.meta.url).href)
const described = await Promise.all(
  modules.map(async (module) => {
    const { about } = await import(module)
    return { module, processes: about.alone ? 1 : 8, isOurs: about.name.startsWith('owner-sso'), ...about }
  }),
)
const candidates = described.toSorted((one, other) => other.isOurs - one.isOurs)
const wanted = new RegExp(only, 'u')
const cells = faults
  .flatMap((fault) =>
    candidates.flatMap((candidate) =>
      // Without a refresh in the background it makes no difference how a token came to its end.
      (fault.moments ?? (candidate.isOurs ? ['in use', 'after a night'] : ['in use'])).map((moment) => ({
        candidate,
        fault,
        moment,
        name: `${candidate.name} | ${fault.title} | ${moment}`,
      })),
    ),
  )
  .filter(({ name }) => wanted.test(name))

/** Cells that may keep the machine busy at once; many more may wait for a fault to end. */
const [busy, open] = [availableParallelism() + 1, 24]

const closing = new Set()
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
process.on('exit', () => closing.forEach((end) => end()))

const folder = mkdtempSync(join(tmpdir(), 'owner-sso-torture-'))
try {
  const world = { folder, seed, certificate: await certificateFor('127.0.0.1'), turns: turnsFor(busy), closing }
  const began = performance.now()
  const played = await playAll(world)
  const differing = new Set()
  for (let run = 1; run < Number(runs); run += 1) {
    for (const [index, { verdict, name }] of (await playAll(world)).entries()) {
      if (verdict !== played[index].verdict) differing.add(name)
    }
  }
  for (const name of differing) console.error(`Not the same verdict in each run: ${name}`)
  const isBroken = played.some(({ verdict }) => verdict === 'broken')
  if (isBroken || differing.size > 0) process.exitCode = 1
  if (!isBroken && only === '') {
    const minutes = Math.ceil((performance.now() - began) / 60_000 / Number(runs))
    const page = pageOf({ played, candidates, faults, seed, minutes, runs: Number(runs), differing, versionOf })
    writeFileSync(new URL('../../docs/reference/torture.md', import.meta.url), page)
  }
} finally {
  await stopSharedServers()
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
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
      await world.turns.take()
      const result = await playCell(cell, world).catch(({ stack }) => ({ verdict: 'broken', stack }))
      world.turns.giveBack()
      results.set(cell, result)
      console.log(`${cell.name}: ${result.stack ?? figuresOf({ ...cell, ...result })}`)
    }
  }
  await Promise.all(Array.from({ length: open }, playOn))
  return cells.map((cell) => ({ ...cell, ...results.get(cell) }))
}

function figuresOf(played) {
  const { '': _name, when: _when, ...figures } = rowOf(played)
  const words = Object.entries(figures).map(([column, value]) => `${column} ${value}`)
  return [...words, ...Object.keys(played.failures)].join(', ')
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
