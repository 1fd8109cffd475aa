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
import { thirdPartyLicenses } from '../../tools/build/third-party-licenses.js'

const installed = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })
const isInstalled = (id) => installed.some((name) => id === name || id.startsWith(`${name}/`))

/**
 * Imports that take long to load and are seldom used, or never. Those who import them get them as they are, by their first use;
 * nothing of a library is another than it was.
 */
const latecomers = [
  {
    // Commander starts subcommands that are programs of their own: here none is. With it come the sockets of node:net.
    id: 'node:child_process',
    isFor: (importer) => /[\\/]commander[\\/]/u.test(importer),
    code: "exports.spawn = (...call) => require('node:child_process').spawn(...call)",
  },
  {
    // Colours for the debug messages of axios's proxy agent, where somebody has installed them: looked for in vain all the way
    // up to the root of the disk.
    id: 'supports-color',
    isFor: () => true,
    code: "throw new Error('not bundled')",
  },
]

const isLate = (id, importer = '') => latecomers.some((each) => each.id === id && each.isFor(importer))

const late = {
  name: 'late',
  resolveId: (id, importer) => (isLate(id, importer) ? `\0late:${id}` : undefined),
  load: (id) => latecomers.find((each) => id === `\0late:${each.id}`)?.code,
}

/**
 * Asked only when a sign-in is sent to another host; to load it takes as long as to load all else of axios and the like. So it
 * is a file of its own, loaded by its first use.
 */
const publicSuffixList = './public-suffix-list.cjs'
const askedLate = '\0public-suffix-list'

const oneOfEach = {
  name: 'one-of-each',
  resolveId(id, importer) {
    // http-cookie-agent, which is CommonJS, would bring a second copy.
    if (id === 'tough-cookie') return this.resolve(id, importer, { kind: 'import-statement', skipSelf: true })
    if (id === publicSuffixList) return { id, external: true }
    return id === 'tldts' && importer !== undefined ? askedLate : undefined
  },
  load: (id) =>
    id === askedLate ? `exports.getDomain = (...host) => require('${publicSuffixList}').getDomain(...host)` : undefined,
}

const isExternal = (id, importer) => (isBuiltin(id) && !isLate(id, importer)) || isInstalled(id)

export default defineConfig({
  input: {
    main: 'src/main.ts',
    'public-suffix-list': 'tldts',
    'window-keeper': 'src/window/keeper.ts',
    'keyring-process': 'src/keyring/keyring-process.ts',
  },
  platform: 'node',
  external: isExternal,
  plugins: [late, oneOfEach, thirdPartyLicenses()],
  output: {
    dir: 'dist',
    format: 'cjs',
    cleanDir: true,
    // A megabyte of the flow's libraries is read at each login.
    minify: true,
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name].cjs',
    codeSplitting: {
      groups: [
        {
          name: 'start',
          test: /[\\/]cli[\\/]src[\\/](?:run|program|interruption|output|warnings)\.ts$/u,
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
