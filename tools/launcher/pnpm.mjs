/**
 * `npm start` and `npm test` on a machine that has Node and npm alone: hand over to the pnpm that `packageManager` names.
 *
 * pnpm installs what is missing by itself (`verifyDepsBeforeRun` in pnpm-workspace.yaml).
 */
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = new URL('../../', import.meta.url)
const { packageManager } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (!((major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major >= 24)) {
  console.error(`owner-sso needs Node 20.19+, 22.12+ or 24+; this is ${process.version}.`)
  process.exit(1)
}

const where = { cwd: fileURLToPath(root), shell: process.platform === 'win32' }
// Where that pnpm is at hand, as it is for whatever a script of it starts, npx would take two seconds to find the same.
const atHand = spawnSync('pnpm', ['--version'], { ...where, encoding: 'utf8' }).stdout?.trim()
const [program, ...first] = packageManager === `pnpm@${atHand}` ? ['pnpm'] : ['npx', '--yes', packageManager]
const child = spawn(program, [...first, ...process.argv.slice(2)], {
  ...where,
  stdio: 'inherit',
  env: { TURBO_TELEMETRY_DISABLED: '1', OWNER_SSO_NODE_VERSION: process.version, ...process.env },
})
// Ctrl-C reaches the whole foreground process group by itself; a signal sent to this process alone is passed on.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)))
