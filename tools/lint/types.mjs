/**
 * `typecheck`: every package, app and test against its own tsconfig.json, all in one process of the compiler, which reads what
 * they share once.
 *
 * With `--force`, since what the last run left behind knows nothing of a package that has been built anew.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))
const projects = ['packages', 'internal', 'examples', 'tests']
  .flatMap((group) => readdirSync(join(root, group)).map((name) => join(group, name)))
  .flatMap((folder) => [folder, join(folder, 'inspector')])
  .filter((folder) => existsSync(join(root, folder, 'tsconfig.json')))
const { status } = spawnSync('tsc', ['--build', '--force', ...projects], {
  cwd: root,
  stdio: 'inherit',
  shell: process.platform === 'win32',
})
process.exit(status ?? 1)
