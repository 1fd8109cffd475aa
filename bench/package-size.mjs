/**
 * What an installation brings, ours beside the peers: `node bench/package-size.mjs`, after `npm run build`.
 *
 * Every candidate is packed, and installed into an empty project of its own as a user would install it. "packages" is
 * how many arrive with it, itself included; "installed" is all of their files.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ours = [
  '@owner-sso/core',
  '@owner-sso/passport',
  '@owner-sso/express',
  '@owner-sso/token-store-memory',
  '@owner-sso/token-store-file',
  '@owner-sso/token-store-redis',
  '@owner-sso/token-store-sql',
  '@owner-sso/cli',
]
const peers = [
  'openid-client@6.8.9',
  'google-auth-library@10.9.1',
  'passport-oauth2@1.8.0',
  'http-proxy-middleware@3.0.10',
]

const packages = fileURLToPath(new URL('../packages/', import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), 'owner-sso-bench-'))
const run = (program, args, cwd = scratch) => execFileSync(program, args, { cwd, stdio: ['ignore', 'pipe', 'ignore'] })

try {
  const tarballs = new Map([...packOurs(), ...peers.map(packPeer)])
  console.table(Object.fromEntries([...ours, ...peers].map((name, index) => [name, measure(name, tarballs, index)])))
} finally {
  rmSync(scratch, { recursive: true })
}

/** The tarballs of all our published packages, by name: ours depend on one another. */
function packOurs() {
  const manifests = readdirSync(packages).map((folder) => readManifest(join(packages, folder)))
  const filters = manifests.filter((manifest) => !manifest.private).flatMap(({ name }) => ['--filter', name])
  const pack = [
    join(packages, '../tools/launcher/pnpm.mjs'),
    ...filters,
    'pack',
    '--pack-destination',
    scratch,
    '--json',
  ]
  return JSON.parse(run(process.execPath, pack)).map(({ name, filename }) => [name, filename])
}

function packPeer(peer) {
  const [{ filename }] = JSON.parse(run('npm', ['pack', peer, '--json', '--prefer-offline']))
  return [peer, join(scratch, filename)]
}

function measure(candidate, tarballs, index) {
  const project = join(scratch, `project-${index}`)
  mkdirSync(project)
  // What a candidate needs of ours is not published yet: it comes from its tarball as well.
  const overrides = Object.fromEntries(
    [...tarballs]
      .filter(([name]) => name.startsWith('@owner-sso/') && name !== candidate)
      .map(([n, t]) => [n, `file:${t}`]),
  )
  const name = candidate.replace(/(?<=.)@.*/u, '')
  const dependencies = { [name]: `file:${tarballs.get(candidate)}` }
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, dependencies, overrides }))
  run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline'], project)
  const lock = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8'))
  const manifest = readManifest(join(project, 'node_modules', name))
  return {
    'packed kB': kilobytes(statSync(tarballs.get(candidate)).size),
    'unpacked kB': kilobytes(sizeOf(join(project, 'node_modules', name))),
    dependencies: Object.keys(manifest.dependencies ?? {}).length,
    packages: Object.keys(lock.packages).length - 1,
    'installed kB': kilobytes(sizeOf(join(project, 'node_modules'))),
  }
}

function readManifest(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

function sizeOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
}

function kilobytes(bytes) {
  return Math.round(bytes / 1000)
}
