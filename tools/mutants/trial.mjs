/**
 * Tries mutants in a copy of the repository: compiles the changed file into its package's `dist/`, and runs the tests that
 * concern it until one is red.
 */
import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, relative, sep } from 'node:path'
import { installMissingPrograms } from '../launcher/programs.mjs'
import { openCompiler } from './compiler.mjs'
import { recordedDurations } from './durations.mjs'
import { mutated } from './mutations.mjs'
import { nearest, relatedTests } from './related-tests.mjs'

/**
 * @typedef {import('./mutations.mjs').Mutation & { name: string, file: string, nth: number }} Mutant - in `packages/NAME`; `file`
 *   from the root; `nth` of those that are the same by file, line and change, counted from 0
 * @typedef {{ outcome: 'killed' | 'survived' | 'refused' | 'undecided', why?: string }} Verdict - `refused`: it does not
 *   compile; `undecided`: its tests did not end in time
 */

/** In place of a test's name. */
const overdue = 'time limit'

/** Never copied: what is large and not read, and the dependencies, which are linked. */
const left = new Set(['.git', '.turbo', 'node_modules', 'docs/api', 'test-artefacts'])

/**
 * @param {string} root - of the repository, which is built
 * @param {number} nearSeconds - runs only the tests nearest to the changed file, as many as take so long together
 */
export function openTrials(root, nearSeconds) {
  const scratch = mkdtempSync(join(tmpdir(), 'mutants-'))
  /** The child process that runs now. */
  let running
  cpSync(root, scratch, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !left.has(relative(root, path).split(sep).join('/')),
  })
  symlinkSync(join(root, 'node_modules'), join(scratch, 'node_modules'))
  const environment = {
    ...process.env,
    OWNER_SSO_TEST_PROGRAMS: installMissingPrograms().join(','),
    PATH: [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter),
  }
  const compile = openCompiler(scratch)
  const durationOf = recordedDurations(root)

  /**
   * @param {string} command
   * @param {string[]} args
   * @param {string} cwd
   * @param {number} seconds
   * @returns {Promise<{ status: number | null, isOverdue: boolean }>}
   */
  function run(command, args, cwd, seconds) {
    return new Promise((resolve) => {
      let isOverdue = false
      // A group of its own, so that what a test has started ends with it.
      const child = spawn(command, args, { cwd, env: environment, detached: true, stdio: 'ignore' })
      running = child
      const timer = setTimeout(() => {
        isOverdue = true
        endGroup(child)
      }, seconds * 1000)
      child.on('exit', (status) => {
        clearTimeout(timer)
        endGroup(child)
        resolve({ status, isOverdue })
      })
    })
  }

  /**
   * The name of the first test that is red; `undefined` where all are green.
   *
   * @param {import('./related-tests.mjs').Test[]} tests
   */
  async function firstFailure(tests) {
    for (const folder of new Set(tests.map((test) => test.folder))) {
      const failure = await failureIn(
        folder,
        tests.filter((test) => test.folder === folder),
      )
      if (failure !== undefined) return failure
    }
    return undefined
  }

  /**
   * @param {string} folder
   * @param {import('./related-tests.mjs').Test[]} tests - in this folder
   * @returns {Promise<string | undefined>}
   */
  async function failureIn(folder, tests) {
    const home = join(scratch, folder)
    const results = join(home, 'test-results.json')
    rmSync(results, { force: true })
    const tool = join(scratch, 'tools/mutants')
    const args = [
      join(scratch, 'tools/launcher/jest.mjs'),
      '--bail=1',
      '--forceExit',
      `--testEnvironment=${join(tool, 'first-red.mjs')}`,
      `--testSequencer=${join(tool, 'as-asked.mjs')}`,
      '--runTestsByPath',
      ...tests.map(({ file }) => file),
    ]
    // A minute, and four times as long as they take: more is a change that hangs, or a busy machine.
    const usual = tests.reduce((sum, { seconds }) => sum + seconds, 0)
    const { status, isOverdue } = await run(process.execPath, args, home, 60 + 4 * usual)
    if (isOverdue) return overdue
    if (status === 0) return undefined
    if (!existsSync(results)) return 'the tests do not end as they should'
    /** @type {{ testResults: { assertionResults: { status: string, fullName: string }[] }[] }} */
    const { testResults } = JSON.parse(readFileSync(results, 'utf8'))
    const failed = testResults
      .flatMap(({ assertionResults }) => assertionResults)
      .find((one) => one.status === 'failed')
    return failed?.fullName ?? 'a test file does not run'
  }

  /** @param {Mutant} mutant */
  function testsOf({ name, file }) {
    return nearest(relatedTests(scratch, name, file, durationOf), nearSeconds)
  }

  /**
   * Puts a changed source file in place, and what is built of it.
   *
   * @param {Mutant} mutant
   * @param {string} source
   * @returns {Promise<string | undefined>} what the compiler or the bundler says against it
   */
  async function build({ name, file }, source) {
    const folder = join(scratch, 'packages', name)
    // First, since the compiler compares with the file as it is.
    const { problem, javascript = '' } = compile(name, file, source)
    if (problem !== undefined) return problem
    writeFileSync(join(scratch, file), source)
    if (existsSync(join(folder, 'tsconfig.build.json'))) {
      const [, inside = ''] = file.split('/src/')
      writeFileSync(join(folder, 'dist', inside.replace(/\.ts$/u, '.js')), javascript)
      return undefined
    }
    const { status } = await run('rolldown', ['--config', 'rolldown.config.js'], folder, 120)
    return status === 0 ? undefined : 'it can not be bundled'
  }

  return {
    /**
     * The name of a test that is red without any change.
     *
     * @param {Mutant} mutant - the test file nearest to it is run
     */
    async failureBefore(mutant) {
      return firstFailure(testsOf(mutant).slice(0, 1))
    },

    /**
     * @param {Mutant} mutant
     * @returns {Promise<Verdict>}
     */
    async try(mutant) {
      const path = join(scratch, mutant.file)
      const source = readFileSync(path, 'utf8')
      const dist = join(scratch, 'packages', mutant.name, 'dist')
      renameSync(dist, `${dist}.unchanged`)
      try {
        cpSync(`${dist}.unchanged`, dist, { recursive: true })
        const problem = await build(mutant, mutated(source, mutant))
        if (problem !== undefined) return { outcome: 'refused', why: problem }
        const failure = await firstFailure(testsOf(mutant))
        if (failure === undefined) return { outcome: 'survived' }
        return { outcome: failure === overdue ? 'undecided' : 'killed', why: failure }
      } finally {
        writeFileSync(path, source)
        rmSync(dist, { recursive: true, force: true })
        renameSync(`${dist}.unchanged`, dist)
      }
    },

    /** Ends what runs, and removes the copy. */
    close() {
      endGroup(running)
      rmSync(scratch, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

/** Ends a child process and all that it has started. */
function endGroup(child) {
  if (child?.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It has ended, and all that it started.
  }
}
