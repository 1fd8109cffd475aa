/**
 * Before all tests: every published package is packed as a release packs it, and installed from its tarball into an empty
 * project, beside what the documents' code blocks import. It lies outside the repository, where nothing of the repository's
 * node_modules is found. The tests find it with empty-project.ts.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pack } from '../../../tools/build/pack.mjs'

/** The oldest TypeScript that our declarations promise to work with. */
const oldestTypeScript = '5.9.3'

/** What applications bring themselves. */
const neighbours = [
  'express',
  'express-session',
  'connect-redis',
  'passport',
  'passport-oauth2',
  'redis',
  'pg',
  'axios',
  'otpauth',
  'http-proxy-middleware',
  'openid-client',
  'hono',
  'pino',
  '@opentelemetry/api',
  '@opentelemetry/sdk-metrics',
  '@opentelemetry/sdk-trace-node',
]
const types = [
  '@types/express',
  '@types/express-session',
  '@types/passport',
  '@types/passport-oauth2',
  '@types/pg',
  '@types/node',
]

const packages = fileURLToPath(new URL('../../../packages/', import.meta.url))
const catalog = readFileSync(join(packages, '../pnpm-workspace.yaml'), 'utf8')

export default function setUp() {
  const scratch = mkdtempSync(join(tmpdir(), 'owner-sso-packed-'))
  process.env.OWNER_SSO_PACKED = scratch
  const tarballs = pack(scratch)
  writeFileSync(join(scratch, 'tarballs.json'), JSON.stringify(tarballs))
  const project = join(scratch, 'empty-project')
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{ "private": true }')
  const install = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline']
  const others = [...neighbours, ...types].map((name) => `${name}@${versionHere(name)}`)
  run('npm', [...install, ...Object.values(tarballs), `typescript@${oldestTypeScript}`, ...others], project)
}

/** The version that this repository is built and tested with. */
function versionHere(name) {
  const [, version] = new RegExp(`^  '?${name}'?: (\\S+)$`, 'mu').exec(catalog) ?? []
  if (version === undefined) throw new Error(`pnpm-workspace.yaml has no version of ${name}`)
  return version
}

function run(program, args, cwd) {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed: ${stderr}`)
  return stdout
}
