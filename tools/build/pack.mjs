/**
 * Packs every published package as a release does: `node tools/build/pack.mjs FOLDER`.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const packages = fileURLToPath(new URL('../../packages/', import.meta.url))
const published = readdirSync(packages)
  .map((name) => JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8')))
  .filter((manifest) => !manifest.private)
const launcher = fileURLToPath(new URL('../launcher/pnpm.mjs', import.meta.url))

/**
 * Packs with the pnpm that `packageManager` names: it is what writes versions in place of `workspace:` and `catalog:`.
 * Returns the tarballs by the packages' names.
 */
export function pack(folder) {
  const chosen = published.flatMap(({ name }) => ['--filter', name])
  const pnpm = [launcher, ...chosen, 'pack', '--pack-destination', folder, '--json']
  const { status, stdout, stderr } = spawnSync(process.execPath, pnpm, { cwd: packages, encoding: 'utf8' })
  if (status !== 0) throw new Error(`packing failed: ${stderr}`)
  return Object.fromEntries(JSON.parse(stdout).map(({ name, filename }) => [name, filename]))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  // Provenance compares it, and whoever finds a package in the registry wants to get here.
  if (published.some(({ repository }) => repository === undefined)) {
    console.error('No package.json says where the repository is: run node tools/build/link-home.mjs ADDRESS.')
    process.exit(1)
  }
  const folder = resolve(process.argv[2] ?? 'tarballs')
  mkdirSync(folder, { recursive: true })
  for (const tarball of Object.values(pack(folder))) console.log(tarball)
}
