/**
 * How the command is bundled: what every call needs in one chunk, what `token` needs in a second, and a chunk for each
 * thing that only some calls load: the flow, Redis, the proxy, the prompts.
 *
 * The chunks are CommonJS, since Node's loader of ES modules alone takes a third of the time that a start may take
 * (`bench/cli-start.mjs`).
 */
import { isBuiltin } from 'node:module'
import { defineConfig } from 'rolldown'
import manifest from './package.json' with { type: 'json' }
import { thirdPartyLicenses } from './third-party-licenses.js'

const installed = Object.keys(manifest.dependencies)
const isInstalled = (id) => installed.some((name) => id === name || id.startsWith(`${name}/`))

/** Commander can start commands that are programs; ours are none, and what starts programs is slow to load. */
const isChildProcessOfCommander = (id, importer) => id === 'node:child_process' && importer?.includes('commander')

const nothing = '\0nothing'
const withoutChildProcess = {
  name: 'without-child-process',
  resolveId: (id, importer) => (isChildProcessOfCommander(id, importer) ? nothing : undefined),
  load: (id) => (id === nothing ? 'export {}' : undefined),
}

export default defineConfig({
  input: 'src/main.ts',
  platform: 'node',
  external: (id, importer) => (isBuiltin(id) || isInstalled(id)) && !isChildProcessOfCommander(id, importer),
  plugins: [withoutChildProcess, thirdPartyLicenses()],
  output: {
    dir: 'dist',
    format: 'cjs',
    cleanDir: true,
    // Chunks lie beside the entry: what is bundled looks for ../package.json.
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name].cjs',
    codeSplitting: {
      groups: [
        { name: 'start', test: /[\\/]cli[\\/]src[\\/](?:program|interruption|output|warnings)\.ts$/u, priority: 2 },
        {
          name: 'token',
          test: /[\\/]cli[\\/]src[\\/]commands[\\/]token\.ts$|[\\/]token-store-file[\\/]/u,
          priority: 1,
        },
      ],
    },
  },
})
