/** Both quick starts, installed by other package managers, as strict as they can be. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { run, write } from '../project.mjs'
import { quickStarts } from '../recipes.mjs'
import { printsVehicles, signsPeopleIn } from '../sign-in.mjs'

const { packageManager: pnpm } = JSON.parse(
  readFileSync(fileURLToPath(new URL('../../../package.json', import.meta.url)), 'utf8'),
)

/** A manifest that names all tarballs: what is not published yet can't be found by its version. */
function manifest(tarballs) {
  const ours = ['core', 'token-manager', 'passport', 'token-store-memory'].map((name) => `@owner-sso/${name}`)
  const files = Object.fromEntries(ours.map((name) => [name, `file:${tarballs[name]}`]))
  const dependencies = { ...files, express: '^5', 'express-session': '^1', passport: '^0.7' }
  return { private: true, type: 'module', dependencies, resolutions: files }
}

async function runBoth(here, args) {
  await printsVehicles(process.execPath, [...args, 'core.mjs'], { cwd: here })
  await signsPeopleIn(process.execPath, [...args, 'passport.mjs'], { cwd: here })
}

async function empty({ project, tarballs }, more = {}) {
  const here = await project()
  write(here, 'package.json', JSON.stringify({ ...manifest(tarballs), ...more }))
  for (const [name, program] of Object.entries(quickStarts)) write(here, `${name}.mjs`, program)
  return here
}

export const packageManagers = {
  title: 'Package managers',
  prepare: () => undefined,
  rows: [
    {
      name: 'npm, strict peers',
      covers: { 'Package managers': 'npm' },
      async run(_state, workshop) {
        const here = await empty(workshop)
        await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', '--strict-peer-deps'], {
          cwd: here,
        })
        await runBoth(here, [])
      },
    },
    {
      name: 'pnpm, nothing hoisted',
      covers: { 'Package managers': 'pnpm' },
      async run(_state, workshop) {
        const here = await empty(workshop)
        const overrides = manifest(workshop.tarballs).resolutions
        write(here, 'pnpm-workspace.yaml', JSON.stringify({ hoist: false, strictPeerDependencies: true, overrides }))
        await run('npx', ['--yes', pnpm, 'install', '--prefer-offline'], { cwd: here })
        await runBoth(here, [])
      },
    },
    {
      name: 'Yarn, Plug’n’Play',
      covers: { 'Package managers': 'Yarn (Plug’n’Play)' },
      async run(_state, workshop) {
        const here = await empty(workshop)
        const registry = (await run('npm', ['config', 'get', 'registry'], { cwd: here })).trim().split('\n').at(-1)
        const env = {
          YARN_NPM_REGISTRY_SERVER: registry,
          YARN_UNSAFE_HTTP_WHITELIST: new URL(registry).hostname,
          YARN_ENABLE_TELEMETRY: '0',
          YARN_ENABLE_IMMUTABLE_INSTALLS: 'false',
          YARN_NODE_LINKER: 'pnp',
          YARN_PNP_MODE: 'strict',
        }
        write(here, 'yarn.lock', '')
        await run('npx', ['--yes', '-p', '@yarnpkg/cli-dist@4', 'yarn', 'install'], { cwd: here, env })
        await runBoth(here, ['--require', './.pnp.cjs', '--experimental-loader', './.pnp.loader.mjs'])
      },
    },
  ],
}
