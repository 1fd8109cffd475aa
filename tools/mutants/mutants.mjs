/**
 * `npm run mutants [PACKAGE] [-- --sample N --seed S]`: breaks the sources in one small place at a time, and looks whether a
 * test notices. CONTRIBUTING.md, "Tests that notice", says how to read what it prints.
 *
 * It works in a copy of the repository: your files stay as they are, whatever ends it. Build first (`npm run build`).
 *
 * - `PACKAGE`: a folder of `packages/`. Without it, the sample is drawn from all of them.
 * - `--sample N`: so many mutants that count. Default: 20.
 * - `--seed S`: the same seed draws the same sample from the same sources. Default: 1.
 * - `--only OPERATOR`: one kind of change, such as `anchor`.
 * - `--file PART`: only files whose path has this in it.
 * - `--limit SECONDS`: how long the tests of one mutant may take. Default: 600.
 * - `--near`: only the tests near the changed file. Quicker; a survivor may still be noticed by the others.
 * - `--list`: prints the sample and tries nothing.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { mutationsOf, operators } from './mutations.mjs'
import { shuffled } from './sample.mjs'
import { openTrials } from './trial.mjs'

const root = fileURLToPath(new URL('../../', import.meta.url))
const { values, positionals } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  allowPositionals: true,
  options: {
    sample: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    file: { type: 'string', default: '' },
    limit: { type: 'string', default: '600' },
    near: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
})
const [chosen] = positionals
if (chosen !== undefined && !existsSync(join(root, 'packages', chosen, 'src')))
  stop(`There is no packages/${chosen}/src.`)
if (values.only !== undefined && !operators.includes(values.only)) stop(`--only takes one of: ${operators.join(', ')}.`)
const size = wholeNumber('sample')
const seed = wholeNumber('seed')
const limit = wholeNumber('limit')
const drawn = shuffled(candidates(), seed)

if (values.list) for (const mutant of drawn.slice(0, size)) console.log(told(mutant))
else process.exitCode = await trySample()

/** @returns {Promise<number>} the exit code: 1 where a mutant survived */
async function trySample() {
  const equivalents = JSON.parse(readFileSync(new URL('equivalent.json', import.meta.url), 'utf8'))
  const trials = openTrials(root, limit, values.near)
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
    process.on(signal, () => {
      trials.close()
      process.exit(130)
    })
  }
  const counts = { killed: 0, survived: 0, refused: 0, equivalent: 0, undecided: 0 }
  const survivors = []
  try {
    const red = drawn[0] && (await trials.failureBefore(drawn[0]))
    if (red !== undefined) {
      console.error(`Without any change a test is red: ${red}. Build, and run the tests.`)
      return 2
    }
    for (const mutant of drawn) {
      if (counts.killed + counts.survived === size) break
      const equivalent = equivalents.find((known) => isSame(known, mutant))
      const { outcome, why } = equivalent
        ? { outcome: /** @type {const} */ ('equivalent'), why: equivalent.why }
        : await trials.try(mutant)
      counts[outcome] += 1
      if (outcome === 'survived') survivors.push(mutant)
      console.log(`${outcome.padEnd(10)} ${told(mutant)}${why ? `  (${why})` : ''}`)
    }
  } finally {
    trials.close()
  }
  const counted = counts.killed + counts.survived
  const share = counted === 0 ? 100 : Math.floor((100 * counts.killed) / counted)
  console.log(`\n${counts.killed} of ${counted} killed (${share} %), with seed ${seed}.`)
  console.log(
    `Not counted: ${counts.equivalent} equivalent, ${counts.refused} refused by the compiler, ${counts.undecided} undecided.`,
  )
  for (const mutant of survivors) console.log(`survived   ${told(mutant)}\n           ${mutant.code}`)
  return survivors.length > 0 ? 1 : 0
}

/** @returns {import('./trial.mjs').Mutant[]} every mutant that may be drawn */
function candidates() {
  const names = chosen === undefined ? readdirSync(join(root, 'packages')) : [chosen]
  return names.toSorted().flatMap((name) =>
    sourcesOf(join(root, 'packages', name, 'src')).flatMap((path) => {
      const file = relative(root, path).split(sep).join('/')
      if (!file.includes(values.file)) return []
      const mutations = mutationsOf(readFileSync(path, 'utf8'))
      const wanted = mutations.filter(({ operator }) => values.only === undefined || operator === values.only)
      return wanted.map((mutation) => ({ ...mutation, name, file }))
    }),
  )
}

/** @param {string} folder */
function sourcesOf(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
}

/** Lines move, so an equivalent mutant is known by what its line says. */
function isSame(known, { file, code, change }) {
  return known.file === file && known.code === code && known.change === change
}

function told({ file, line, operator, change }) {
  return `${file}:${line}  ${operator}: ${change}`
}

/** @param {'sample' | 'seed' | 'limit'} name */
function wholeNumber(name) {
  const value = Number(values[name])
  return Number.isSafeInteger(value) && value >= 0 ? value : stop(`--${name} takes a whole number.`)
}

/** @returns {never} */
function stop(problem) {
  console.error(problem)
  process.exit(2)
}
