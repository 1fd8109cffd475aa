/**
 * `npm run bench [-- WORD [ARGUMENTS]]`: runs the bench programs once, one after the other, keeps their figures in `bench/results.json`, and
 * draws `docs/reference/performance.md`. With a word only those whose name contains it run; the figures of the others stay. Arguments take the place of those of
 * `programs.mjs`, for a shorter run.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { drawn } from './draw.mjs'
import { commandOf, programs } from './programs.mjs'

const root = fileURLToPath(new URL('../../', import.meta.url))
const resultsFile = join(root, 'bench/results.json')
const [word = '', ...shorter] = process.argv.slice(2)
const chosen = programs
  .filter(({ name }) => name.includes(word))
  .map((program) => (shorter.length > 0 ? { ...program, args: shorter } : program))
if (chosen.length === 0)
  throw new Error(`No bench program is called so: ${programs.map(({ name }) => name).join(', ')}`)

const results = JSON.parse(readFileSync(resultsFile, 'utf8'))
const folder = mkdtempSync(join(tmpdir(), 'owner-sso-bench-report-'))
let failed = 0
try {
  for (const program of chosen) {
    console.log(`\n${program.name}`)
    const load = Math.round(loadavg()[0] * 10) / 10
    const tables = figuresOf(program)
    if (tables === undefined) {
      failed += 1
      console.log(`${program.name} failed: its figures stay as they were.`)
      continue
    }
    const at = new Date().toISOString().slice(0, 10)
    results[program.name] = {
      command: commandOf(program),
      at,
      node: process.versions.node,
      cores: availableParallelism(),
      load,
      tables,
    }
    writeFileSync(resultsFile, `${JSON.stringify(results, undefined, 2)}\n`)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
mkdirSync(join(root, 'docs/reference/performance'), { recursive: true })
for (const [path, content] of Object.entries(drawn(results))) writeFileSync(join(root, path), content)
console.log('\nDrawn: docs/reference/performance.md')
process.exitCode = failed === 0 ? 0 : 1

/** The tables that a program prints, or nothing where it failed. */
function figuresOf({ name, args = [] }) {
  const file = join(folder, `${name}.json`)
  const capture = new URL('capture.mjs', import.meta.url).href
  const { status } = spawnSync(process.execPath, ['--import', capture, join(root, `bench/${name}.mjs`), ...args], {
    stdio: 'inherit',
    env: { ...process.env, OWNER_SSO_BENCH_FIGURES: file },
  })
  return status === 0 ? JSON.parse(readFileSync(file, 'utf8')) : undefined
}
