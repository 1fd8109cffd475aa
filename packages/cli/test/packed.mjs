/**
 * Before all tests: the package is packed as a release packs it, and unpacked below this folder, where its dependencies are
 * found. The tests run that copy and nothing else.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))
const launcher = fileURLToPath(new URL('../../../tools/launcher/pnpm.mjs', import.meta.url))
const artefacts = `${root}test-artefacts`

export default function pack() {
  rmSync(artefacts, { recursive: true, force: true })
  mkdirSync(artefacts)
  run(process.execPath, [launcher, '--filter', '@owner-sso/cli', 'pack', '--pack-destination', artefacts])
  const [tarball] = readdirSync(artefacts).filter((name) => name.endsWith('.tgz'))
  run('tar', ['xzf', `${artefacts}/${tarball}`, '-C', artefacts])
}

function run(command, args) {
  const { status, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${stderr}`)
}
