/**
 * `npm run mutants -- [PACKAGE] [--first N] [--seed S]`: breaks the sources in one small place at a time, and looks whether a
 * test notices. CONTRIBUTING.md, "Tests that notice", says how to read what it prints.
 *
 * It works in a copy of the repository: your files stay as they are, whatever ends it. Build first (`npm run build`).
 *
 * - `PACKAGE`: a folder of `packages/`. Without it, the sample is drawn from all of them.
 * - `--seed S`: the same seed draws the same order from the same sources. Default: 1.
 * - `--first N`: tries so many of that order. Default: 20.
 * - `--skip N`: leaves so many out before them, which another run tries.
 * - `--only OPERATOR`: one kind of change, such as `anchor`.
 * - `--file PART`: only files whose path has this in it.
 * - `--near SECONDS`: only the tests nearest to the changed file, as many as take so long together. A survivor may still be
 *   noticed by the others.
 * - `--results FILE`: where verdicts are kept. What an earlier run has killed is not tried again, and several runs may
 *   keep theirs in one file. Default: `test-artefacts/mutants.jsonl`.
 * - `--again`: tries what survived or was undecided in these results, instead of a new sample.
 * - `--list`: prints the sample and tries nothing.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { mutationsOf, operators } from './mutations.mjs'
import { openResults } from './results.mjs'
import { shuffled } from './sample.mjs'
import { openTrials } from './trial.mjs'

const root = fileURLToPath(new URL('../../', import.meta.url))
const { values, positionals } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    first: { type: 'string', default: '20' },
    skip: { type: 'string', default: '0' },
    only: { type: 'string' },
    file: { type: 'string', default: '' },
    near: { type: 'string' },
    results: { type: 'string', default: join(root, 'test-artefacts/mutants.jsonl') },
    again: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
})
const [chosen] = positionals
if (chosen !== undefined && !existsSync(join(root, 'packages', chosen, 'src')))
  stop(`There is no packages/${chosen}/src.`)
if (values.only !== undefined && !operators.includes(values.only)) stop(`--only takes one of: ${operators.join(', ')}.`)
const seed = wholeNumber('seed')
const skip = wholeNumber('skip')
const results = openResults(values.results)
const drawn = shuffled(candidates(), seed)
  .filter((mutant) => !values.again || results.isOpen(mutant))
  .slice(skip, skip + wholeNumber('first'))

if (values.list) for (const mutant of drawn) console.log(told(mutant))
else process.exitCode = await trySample()

/** @returns {Promise<number>} the exit code: 1 where a mutant survived */
async function trySample() {
  const equivalents = JSON.parse(readFileSync(new URL('equivalent.json', import.meta.url), 'utf8'))
  const trials = openTrials(root, values.near === undefined ? Infinity : wholeNumber('near'))
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
    process.on(signal, () => {
      trials.close()
      process.exit(130)
    })
  }
  const counts = { killed: 0, survived: 0, refused: 0, equivalent: 0, undecided: 0 }
  const survivors = []
  try {
    const next = drawn.find((mutant) => results.find(mutant) === undefined)
    const red = next && (await trials.failureBefore(next))
    if (red !== undefined) {
      console.error(`Without any change a test is red: ${red}. Build, and run the tests.`)
      return 2
    }
    for (const mutant of drawn) {
      const { outcome, why } = await verdictOf(mutant)
      counts[outcome] += 1
      if (outcome === 'survived') survivors.push(mutant)
      console.log(`${outcome.padEnd(10)} ${told(mutant)}${why ? `  (${why})` : ''}`)
    }
  } finally {
    trials.close()
  }

  async function verdictOf(mutant) {
    const equivalent = equivalents.find((known) => isSame(known, mutant))
    if (equivalent) return { outcome: 'equivalent', why: equivalent.why }
    const earlier = results.find(mutant)
    if (earlier) return earlier
    const verdict = await trials.try(mutant)
    results.keep(mutant, verdict)
    return verdict
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
      return numbered(wanted.map((mutation) => ({ ...mutation, name, file })))
    }),
  )
}

/** Tells those apart that are the same by line and change. */
function numbered(mutants) {
  const seen = new Map()
  return mutants.map((mutant) => {
    const key = `${mutant.code}\n${mutant.change}`
    const nth = seen.get(key) ?? 0
    seen.set(key, nth + 1)
    return { ...mutant, nth }
  })
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

/** @param {'seed' | 'first' | 'skip' | 'near'} name */
function wholeNumber(name) {
  const value = Number(values[name])
  return Number.isSafeInteger(value) && value >= 0 ? value : stop(`--${name} takes a whole number.`)
}

/** @returns {never} */
function stop(problem) {
  console.error(problem)
  process.exit(2)
}
