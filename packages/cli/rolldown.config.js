/**
 * How the command is bundled: one small entry that starts fast, and a chunk for each thing that only some calls need.
 */
import { isBuiltin } from 'node:module'
import { defineConfig } from 'rolldown'
import manifest from './package.json' with { type: 'json' }
import { thirdPartyLicenses } from './third-party-licenses.js'

const installed = Object.keys(manifest.dependencies)

export default defineConfig({
  input: 'src/main.ts',
  platform: 'node',
  external: (id) => isBuiltin(id) || installed.some((name) => id === name || id.startsWith(`${name}/`)),
  plugins: [thirdPartyLicenses()],
  // Chunks lie beside the entry: what is bundled looks for ../package.json.
  output: {
    dir: 'dist',
    format: 'esm',
    cleanDir: true,
    chunkFileNames: '[name].js',
    minify: { compress: true, mangle: false, codegen: false },
  },
})
