/**
 * `npm run repeat -- TEST N`: each test of a file so many times, each time alone in a process of its own, for one that may
 * cry wolf. A test that reads before something has happened often passes behind others and fails alone.
 *
 * TEST is a path from the root of the repository; after N, part of a test's name picks those of that name.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installMissingPrograms } from './programs.mjs'

const [test, count, part = ''] = process.argv.slice(2).filter((argument) => argument !== '--')
const times = Number(count)
if (!test || !existsSync(test) || !Number.isSafeInteger(times) || times < 1) {
  console.error("npm run repeat -- TEST N ['part of a name'], as in: examples/owner-portal/test/browser.test.ts 20")
  process.exit(2)
}
const folder = packageOf(resolve(test))
const file = relative(folder, resolve(test))
process.env.OWNER_SSO_TEST_PROGRAMS = installMissingPrograms().join(',')

const build = ['run', 'build', '--output-logs=errors-only']
if (spawnSync('turbo', build, { stdio: 'inherit', shell: process.platform === 'win32' }).status !== 0) process.exit(1)

const names = run()
  .results.filter(({ status }) => status !== 'pending' && status !== 'todo')
  .map(({ fullName }) => fullName)
  .filter((name) => name.includes(part))
if (names.length === 0) {
  console.error(`There is no such test in ${test}, or its file does not run.`)
  process.exit(1)
}

let failed = 0
for (const name of new Set(names)) {
  let passed = 0
  for (let turn = 1; turn <= times; turn += 1) {
    const { isGreen, told } = run('-t', `^${name.replaceAll(/[\\^$.*+?()[\]{}|]/gu, String.raw`\$&`)}$`)
    if (isGreen) passed += 1
    else console.error(`${name}: failed at turn ${turn}\n${told}`)
  }
  failed += times - passed
  console.log(`${passed} of ${times} passed: ${name}`)
}
process.exit(failed > 0 ? 1 : 0)

/** One run of the file, or of what these arguments pick of it. */
function run(...args) {
  const jest = fileURLToPath(new URL('jest.mjs', import.meta.url))
  const { status, stderr } = spawnSync(process.execPath, [jest, '--runTestsByPath', file, ...args], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  const { testResults } = JSON.parse(readFileSync(join(folder, 'test-results.json'), 'utf8'))
  const results = testResults.flatMap(({ assertionResults }) => assertionResults)
  return { isGreen: status === 0 && results.some((result) => result.status === 'passed'), told: stderr, results }
}

/** The package or app that a file is in. */
function packageOf(path) {
  const parent = dirname(path)
  return existsSync(join(parent, 'package.json')) ? parent : packageOf(parent)
}
