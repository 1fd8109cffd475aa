/**
 * How the command is bundled: what every call needs in one chunk, what `token` needs in a second, and a chunk for each
 * thing that only some calls load: the flow, Redis, the proxy, the prompts.
 *
 * The chunks are CommonJS, since Node's loader of ES modules alone takes a third of the time that a start may take
 * (`bench/cli-start.mjs`).
 */
import { isBuiltin } from 'node:module'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'rolldown'
import manifest from './package.json' with { type: 'json' }
import { thirdPartyLicenses } from '../../tools/build/third-party-licenses.js'

const installed = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })
/** From their sources: what they are built into is put together already, and a call would load all of it. */
const source = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url))
const sources = {
  '@owner-sso/core$': source('core/src/index.ts'),
  '@owner-sso/token-manager$': source('token-manager/src/index.ts'),
  '@owner-sso/token-manager/http$': source('token-manager/src/http.ts'),
  '@owner-sso/token-manager/support$': source('token-manager/src/support.ts'),
}

/** As `tools/build/bake-version.mjs` writes it into what is built. */
const bakedVersion = {
  name: 'baked-version',
  load: (id) =>
    id === source('token-manager/src/version.ts') ? `export const version = '${manifest.version}'` : undefined,
}

const isInstalled = (id) => installed.some((name) => id === name || id.startsWith(`${name}/`))

/**
 * Imports that take long to load and are seldom used, or never. Those who import them get them as they are, by their first use;
 * nothing of a library is another than it was. `file`: what is bundled of one, else it is Node's own.
 */
const latecomers = [
  {
    // Commander starts subcommands that are programs of their own: here none is. With it come the sockets of node:net.
    id: 'node:child_process',
    isFor: (importer) => /[\\/]commander[\\/]/u.test(importer),
    code: "exports.spawn = (...call) => require('node:child_process').spawn(...call)",
  },
  {
    // Its adapter for the global fetch looks what fetch can do, and so Node loads all of it.
    id: './fetch.js',
    isFor: isOfAxios,
    file: './fetch-adapter.cjs',
    code: "exports.getFetch = (...call) => require('./fetch-adapter.cjs').getFetch(...call)",
  },
  {
    // What makes a form of an object, with the types of all files there are.
    id: 'form-data',
    isFor: isOfAxios,
    file: './form-data.cjs',
    code: "module.exports = function FormData(...call) { return new (require('./form-data.cjs'))(...call) }",
  },
  {
    // Asked only when a sign-in is sent to another host.
    id: 'tldts',
    isFor: (importer) => importer !== '',
    file: './public-suffix-list.cjs',
    code: "exports.getDomain = (...host) => require('./public-suffix-list.cjs').getDomain(...host)",
  },
]

/** @param {string} importer */
function isOfAxios(importer) {
  return /[\\/]axios[\\/]lib[\\/]/u.test(importer)
}

const isLate = (id, importer = '') => latecomers.some((each) => each.id === id && each.isFor(importer))

const late = {
  name: 'late',
  async resolveId(id, importer) {
    if (latecomers.some(({ file }) => file === id)) return { id, external: true }
    if (!isLate(id, importer)) return undefined
    const { file } = latecomers.find((each) => each.id === id)
    if (file !== undefined) {
      const { id: bundled } = await this.resolve(id, importer, { skipSelf: true })
      this.emitFile({ type: 'chunk', id: bundled, fileName: file.slice(2) })
    }
    return `\0late:${id}`
  },
  load: (id) => latecomers.find((each) => id === `\0late:${each.id}`)?.code,
}

/** http-cookie-agent, which is CommonJS, would bring a second copy. */
const oneToughCookie = {
  name: 'one-tough-cookie',
  resolveId(id, importer) {
    return id === 'tough-cookie' ? this.resolve(id, importer, { kind: 'import-statement', skipSelf: true }) : undefined
  },
}

const isExternal = (id, importer) => (isBuiltin(id) && !isLate(id, importer)) || isInstalled(id)

export default defineConfig({
  input: {
    main: 'src/main.ts',
    'window-keeper': 'src/window/keeper.ts',
    'keyring-process': 'src/keyring/keyring-process.ts',
  },
  platform: 'node',
  resolve: { alias: sources },
  external: isExternal,
  plugins: [bakedVersion, late, oneToughCookie, thirdPartyLicenses()],
  output: {
    dir: 'dist',
    format: 'cjs',
    cleanDir: true,
    // A megabyte of the flow's libraries is read at each login.
    minify: true,
    // As nearly all libraries are written: their own words for it are left out, and a minified name of a function in a block would
    // hide another one of the function around it.
    strict: true,
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name].cjs',
    codeSplitting: {
      groups: [
        {
          name: 'start',
          test: /[\\/]cli[\\/]src[\\/](?:command-line[\\/](?:run|program)|failure[\\/]interruption|terminal[\\/]output)\.ts$/u,
          priority: 2,
        },
        {
          name: 'token',
          test: /[\\/]cli[\\/]src[\\/](?:commands[\\/]token|keyring[\\/](?!keyring-process)[a-z-]+)\.ts$|[\\/]token-store-file[\\/]/u,
          priority: 1,
        },
      ],
    },
  },
})
