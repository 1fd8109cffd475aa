/**
 * `npm test`: programs, lint, build, every test of every package and app, and one closing count over all of them.
 *
 * `--soak`, which is `npm run soak`: the same with every scenario in its long form, in about 75 minutes on two cores.
 */
import { spawnSync } from 'node:child_process'
import { packagesAtOnce } from './load.mjs'
import { installMissingPrograms } from './programs.mjs'
import { trySecondTime } from './second-try.mjs'
import { clearResults, countResults, isRed } from './test-results.mjs'

const soak = process.argv.includes('--soak')
const available = installMissingPrograms()
await clearResults()

const env = {
  ...process.env,
  OWNER_SSO_WHOLE_RUN: '1',
  OWNER_SSO_TEST_PROGRAMS: available.join(','),
  ...(soak && { OWNER_SSO_SOAK: '1' }),
}

// Lint reads the built types of every package.
const built = turbo('build', '--output-logs=errors-only')
const checked = turbo(
  'lint:house',
  'typecheck',
  'test',
  '--continue=dependencies-successful',
  `--concurrency=${packagesAtOnce}`,
  '--output-logs=new-only',
  // Each test runs, whatever the cache has. Nothing is built again: lint would find packages without their types meanwhile.
  ...(soak ? ['--force', '--only'] : []),
)
if (!soak) await trySecondTime(env)
// What was red may have been a test alone, and those are counted below. Lint and types come from the cache where they were green.
const isGreen = built && (checked || turbo('lint:house', 'typecheck', '--output-logs=errors-only'))

const counts = await countResults()
const { passed, failed, skipped, passedAlone } = counts
for (const file of passedAlone)
  console.error(`${file} failed among the others and passed alone. Mend it: npm run repeat -- ${file} 20`)
if (!isGreen) console.error('Something above failed: look for the first error in it.')
const isStrict = process.env.CI === 'true'
if (isStrict && isRed(counts, true) && !isRed(counts, false)) console.error('Under CI=true nothing may be skipped.')
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`)
process.exit(!isGreen || isRed(counts, isStrict) ? 1 : 0)

/** Runs tasks with turbo; whether all of them succeeded. */
function turbo(...args) {
  const { status } = spawnSync('turbo', ['run', ...args], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
    env,
  })
  return status === 0
}
