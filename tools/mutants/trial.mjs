/** Tries mutants in a copy of the repository: writes the changed source, builds its package, and runs the tests that concern it. */
import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, relative, sep } from 'node:path'
import { installMissingPrograms } from '../launcher/programs.mjs'
import { mutated } from './mutations.mjs'
import { relatedTests } from './related-tests.mjs'

/**
 * @typedef {import('./mutations.mjs').Mutation & { name: string, file: string }} Mutant - in `packages/NAME`; `file` from the root
 * @typedef {{ outcome: 'killed' | 'survived' | 'refused' | 'undecided', why?: string }} Verdict - `refused`: it does not
 *   compile; `undecided`: its tests did not end in time
 */

/** In place of a test's name. */
const overdue = 'time limit'

/** Never copied: what is large and not read, and the dependencies, which are linked. */
const left = new Set(['.git', '.turbo', 'node_modules', 'docs/api', 'test-artefacts'])

/**
 * @param {string} root - of the repository, which is built
 * @param {number} limit - seconds that the tests of one mutant may take
 * @param {boolean} onlyNear - runs only the tests that are near the changed file
 */
export function openTrials(root, limit, onlyNear) {
  const scratch = mkdtempSync(join(tmpdir(), 'mutants-'))
  /** The child process that runs now. */
  let running
  cpSync(root, scratch, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !left.has(relative(root, path).split(sep).join('/')),
  })
  symlinkSync(join(root, 'node_modules'), join(scratch, 'node_modules'))
  allowUnused(join(scratch, 'tsconfig.base.json'))
  const environment = {
    ...process.env,
    OWNER_SSO_TEST_PROGRAMS: installMissingPrograms().join(','),
    PATH: [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter),
  }

  /**
   * @param {string} command
   * @param {string[]} args
   * @param {string} cwd
   * @param {number} seconds
   * @returns {Promise<{ status: number | null, isOverdue: boolean, output: string }>}
   */
  function run(command, args, cwd, seconds) {
    return new Promise((resolve) => {
      let output = ''
      let isOverdue = false
      // A group of its own, so that what a test has started ends with it.
      const child = spawn(command, args, { cwd, env: environment, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
      running = child
      const timer = setTimeout(() => {
        isOverdue = true
        endGroup(child)
      }, seconds * 1000)
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += String(data)))
      child.on('exit', (status) => {
        clearTimeout(timer)
        endGroup(child)
        resolve({ status, isOverdue, output })
      })
    })
  }

  /**
   * The name of the first test that is red; `undefined` where all are green.
   *
   * @param {{ folder: string, files: string[] }} group
   * @param {number} seconds
   */
  async function failureOf({ folder, files }, seconds) {
    const home = join(scratch, folder)
    const results = join(home, 'test-results.json')
    rmSync(results, { force: true })
    const jest = join(scratch, 'tools/launcher/jest.mjs')
    const args = [jest, '--bail=1', '--runTestsByPath', ...files]
    const { status, isOverdue } = await run(process.execPath, args, home, seconds)
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

  /**
   * @param {{ folder: string, files: string[] }[]} groups
   * @returns {Promise<string | undefined>}
   */
  async function firstFailure(groups) {
    const end = Date.now() + limit * 1000
    for (const group of groups) {
      const failure = await failureOf(group, (end - Date.now()) / 1000)
      if (failure !== undefined) return failure
    }
    return undefined
  }

  return {
    /**
     * The name of a test that is red without any change.
     *
     * @param {Mutant} mutant - the tests nearest to it are run
     */
    async failureBefore({ name, file }) {
      return firstFailure(relatedTests(scratch, name, file).slice(0, 1))
    },

    /**
     * @param {Mutant} mutant
     * @returns {Promise<Verdict>}
     */
    async try(mutant) {
      const folder = join(scratch, 'packages', mutant.name)
      const path = join(scratch, mutant.file)
      const source = readFileSync(path, 'utf8')
      const groups = relatedTests(scratch, mutant.name, mutant.file, onlyNear)
      const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
      writeFileSync(path, mutated(source, mutant))
      renameSync(join(folder, 'dist'), join(folder, 'dist.unchanged'))
      try {
        const built = await run('sh', ['-c', scripts.build], folder, limit)
        if (built.status !== 0) return { outcome: 'refused', why: built.output.split('\n')[0] ?? '' }
        const failure = await firstFailure(groups)
        if (failure === undefined) return { outcome: 'survived' }
        return { outcome: failure === overdue ? 'undecided' : 'killed', why: failure }
      } finally {
        writeFileSync(path, source)
        rmSync(join(folder, 'dist'), { recursive: true, force: true })
        renameSync(join(folder, 'dist.unchanged'), join(folder, 'dist'))
      }
    },

    /** Ends what runs, and removes the copy. */
    close() {
      endGroup(running)
      rmSync(scratch, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

/**
 * What a change leaves unused is no error of it.
 *
 * @param {string} file - the repository's tsconfig.base.json
 */
function allowUnused(file) {
  const config = JSON.parse(readFileSync(file, 'utf8'))
  Object.assign(config.compilerOptions, {
    noUnusedLocals: false,
    noUnusedParameters: false,
    allowUnreachableCode: true,
  })
  writeFileSync(file, JSON.stringify(config))
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
