/** Core's quick start in `out/`, run from a folder with nothing else in it. */
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { run, write } from '../project.mjs'
import { asCommonJs, quickStarts, recipe } from '../recipes.mjs'
import { printsVehicles } from '../sign-in.mjs'

/** What each makes of `app.mjs`, or of `app.cjs`, as docs/guides/frameworks.md calls it. */
const bundlers = [
  { name: 'esbuild', packages: ['esbuild'], recipe: 'esbuild', bundle: 'app.mjs' },
  { name: 'esbuild, CommonJS', packages: ['esbuild'], recipe: 'esbuild-cjs', bundle: 'app.cjs' },
  {
    name: 'rollup',
    packages: ['rollup', '@rollup/plugin-node-resolve', '@rollup/plugin-commonjs', '@rollup/plugin-json'],
    files: { 'rollup.config.mjs': 'rollup-config' },
    recipe: 'rollup',
    bundle: 'app.mjs',
  },
  {
    name: 'webpack',
    packages: ['webpack', 'webpack-cli'],
    files: { 'webpack.config.mjs': 'webpack-config' },
    recipe: 'webpack',
    bundle: 'app.mjs',
  },
  { name: 'ncc', packages: ['@vercel/ncc'], recipe: 'ncc', bundle: 'index.mjs' },
]

export const bundled = {
  title: 'Bundlers',
  prepare({ project }, wanted) {
    const packages = bundlers.filter(({ name }) => wanted.includes(name)).flatMap((bundler) => bundler.packages)
    return project('@owner-sso/core', '@owner-sso/token-store-memory', ...new Set(packages))
  },
  rows: bundlers.map((bundler) => ({
    name: bundler.name,
    slice: bundler.name === 'esbuild, CommonJS',
    covers: { Bundlers: bundler.name.replace(/,.*/u, '') },
    async run(here, { folder }) {
      write(here, 'app.mjs', quickStarts.core)
      write(here, 'app.cjs', asCommonJs(quickStarts.core))
      rmSync(join(here, 'out'), { recursive: true, force: true })
      for (const [file, name] of Object.entries(bundler.files ?? {})) write(here, file, recipe(name))
      await run('bash', ['-ec', recipe(bundler.recipe)], { cwd: here, env: { HOME: folder } })
      const alone = join(folder, `bundled-${bundler.name.replaceAll(/\W+/gu, '-')}`)
      cpSync(join(here, 'out'), alone, { recursive: true })
      await printsVehicles(process.execPath, [bundler.bundle], { cwd: alone })
    },
  })),
}
