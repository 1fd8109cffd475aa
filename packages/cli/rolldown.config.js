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
import { thirdPartyLicenses } from '../workspace/third-party-licenses.js'

const installed = Object.keys(manifest.dependencies)
const isInstalled = (id) => installed.some((name) => id === name || id.startsWith(`${name}/`))

/**
 * What is never used, and takes long to load: commander can start commands that are programs; axios can send in other ways
 * than over HTTP/1, follow redirects, look for a proxy in the environment, and send forms with files in them.
 */
const axiosFile = /[\\/]axios[\\/]lib[\\/]/u
const leftOut = [
  { id: 'node:child_process', importer: /[\\/]commander[\\/]/u, code: 'export {}' },
  { id: './fetch.js', importer: axiosFile, code: 'export const getFetch = () => null' },
  { id: './xhr.js', importer: axiosFile, code: 'export default false' },
  { id: 'http2', importer: axiosFile, code: 'export default {}' },
  { id: 'follow-redirects', importer: axiosFile, code: 'export default {}' },
  { id: 'proxy-from-env', importer: axiosFile, code: "export const getProxyForUrl = () => ''" },
  { id: 'https-proxy-agent', importer: axiosFile, code: 'export default class HttpsProxyAgent {}' },
  { id: 'form-data', importer: axiosFile, code: 'export default class FormData {}' },
]
const leftOutIn = (id, importer = '') => leftOut.find((left) => left.id === id && left.importer.test(importer))

const withoutUnused = {
  name: 'without-unused',
  resolveId(id, importer) {
    const left = leftOutIn(id, importer)
    return left && `\0left-out:${leftOut.indexOf(left)}`
  },
  // Node loads its client for `fetch` as soon as somebody looks whether there is a FormData.
  transform: (code, id) =>
    /axios[\\/]lib[\\/]utils\.js$/u.test(id) ? code.replaceAll('G.FormData', 'undefined') : undefined,
  load: (id) => (id.startsWith('\0left-out:') ? leftOut[Number(id.slice('\0left-out:'.length))].code : undefined),
}

export default defineConfig({
  input: 'src/main.ts',
  platform: 'node',
  external: (id, importer) => (isBuiltin(id) || isInstalled(id)) && !leftOutIn(id, importer),
  plugins: [withoutUnused, thirdPartyLicenses()],
  output: {
    dir: 'dist',
    format: 'cjs',
    cleanDir: true,
    // A megabyte of the flow's libraries is read at each login.
    minify: true,
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
