/**
 * How each cost grows with its work: `node bench/scale.mjs [WORD]`, of the curves whose name contains the word. Runs the other bench
 * programs with more and more accounts, processes, polls and clients. A figure is a ratio from within one run, to that run's floor; a
 * simulated fleet has none, so its CPU time stands beside the smallest fleet's.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The ratio of the row whose name begins so. */
const of = (row, column) => (rows) => Number(rows.find((each) => each[''].startsWith(row))[column])
const fleet = (option, more = '--accounts 2000 --processes 8') => ({
  program: 'fleet-simulation',
  args: (size) => `${more} --days 0.1 --settle 0.3 --outage 0.5 ${option(size)}`.split(' '),
  figure: (rows) => of('CPU, s', 'figure')(rows) / of('refreshes in all', 'figure')(rows),
})

const curves = {
  'getAccessToken from memory, by accounts': {
    program: 'hot-path',
    sizes: [1000, 100_000, 1_000_000],
    figure: (rows) => rows.findLast(({ candidate }) => candidate === 'getAccessToken')['to the floor'],
  },
  'an update in Redis, by accounts': {
    program: 'redis-store',
    sizes: [100, 10_000, 100_000],
    figure: of('update', 'ratio'),
  },
  'a swap in PostgreSQL, by accounts': {
    program: 'sql-store',
    sizes: [100, 10_000, 100_000],
    figure: of('PostgreSQL: swap', 'ratio to the bare query'),
  },
  'CPU of a fleet for a refresh, by accounts': {
    ...fleet((accounts) => `--accounts ${accounts}`, '--processes 8'),
    sizes: [100, 1000, 10_000],
  },
  'CPU of a fleet for a refresh, by processes': {
    ...fleet((processes) => `--processes ${processes}`, '--accounts 2000'),
    sizes: [1, 8, 64],
  },
  'CPU of a fleet for a refresh, by polls of a vehicle in an hour': {
    ...fleet((polls) => `--poll ${3600 / polls}`),
    sizes: [2, 12, 60],
  },
  'a proxied call of the broker, by clients': {
    program: 'broker',
    args: (clients) => [String(clients), '50', '10'],
    sizes: [100, 1000, 10_000],
    figure: of('proxied call', 'p50 / bare proxy'),
  },
}

const file = join(tmpdir(), `owner-sso-bench-scale-${process.pid}.json`)
const word = process.argv[2] ?? ''
for (const [name, { program, sizes, args = (size) => [String(size)], figure }] of Object.entries(curves)) {
  if (!name.includes(word)) continue
  const figures = sizes.map((size) => figure(lastTable(program, args(size))))
  const floor = program === 'fleet-simulation' ? figures[0] : 1
  console.log(name)
  console.table(sizes.map((size, index) => ({ size, ratio: Number((figures[index] / floor).toFixed(2)) })))
}
rmSync(file, { force: true })

function lastTable(program, args) {
  const capture = new URL('report/capture.mjs', import.meta.url)
  const NODE_OPTIONS = `--max-old-space-size=6000 --import ${capture}`
  const path = fileURLToPath(new URL(`${program}.mjs`, import.meta.url))
  const env = { ...process.env, NODE_OPTIONS, OWNER_SSO_BENCH_FIGURES: file }
  execFileSync(process.execPath, [path, ...args], { env, stdio: ['ignore', 'ignore', 'inherit'] })
  return JSON.parse(readFileSync(file, 'utf8')).at(-1).rows
}
