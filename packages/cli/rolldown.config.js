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

/** Asked only when a sign-in is sent to another host; to load it takes as long as to load all else of axios and the like. */
const publicSuffixList = './public-suffix-list.cjs'

const axiosFile = /[\\/]axios[\\/]lib[\\/]/u
/**
 * What takes long to load and is never used: commander can start commands that are programs; axios can send in other ways
 * than over HTTP/1, follow redirects, look for a proxy in the environment, and send forms with files in them. And the one
 * thing that is hardly ever used: it becomes a file of its own, loaded by its first use.
 */
const replaced = [
  { id: 'node:child_process', importer: /[\\/]commander[\\/]/u, by: 'export {}' },
  { id: './fetch.js', importer: axiosFile, by: 'export const getFetch = () => null' },
  { id: './xhr.js', importer: axiosFile, by: 'export default false' },
  { id: 'http2', importer: axiosFile, by: 'export default {}' },
  { id: 'follow-redirects', importer: axiosFile, by: 'export default {}' },
  { id: 'proxy-from-env', importer: axiosFile, by: "export const getProxyForUrl = () => ''" },
  { id: 'https-proxy-agent', importer: axiosFile, by: 'export default class HttpsProxyAgent {}' },
  { id: 'form-data', importer: axiosFile, by: 'export default class FormData {}' },
  {
    id: 'tldts',
    importer: /./u,
    by: `exports.getDomain = (...host) => require('${publicSuffixList}').getDomain(...host)`,
  },
]
const replacementOf = (id, importer = '') =>
  replaced.find((module) => module.id === id && module.importer.test(importer))

const withoutUnused = {
  name: 'without-unused',
  resolveId(id, importer) {
    // http-cookie-agent, which is CommonJS, would bring a second copy.
    if (id === 'tough-cookie') return this.resolve(id, importer, { kind: 'import-statement', skipSelf: true })
    if (id === publicSuffixList) return { id, external: true }
    const replacement = replacementOf(id, importer)
    return replacement && `\0replaced:${replaced.indexOf(replacement)}`
  },
  transform(code, id) {
    // Node loads its client for `fetch` as soon as somebody looks whether there is a FormData.
    if (/axios[\\/]lib[\\/]utils\.js$/u.test(id)) return code.replaceAll('G.FormData', 'undefined')
    // An expression that takes milliseconds to compile, and that nothing without a colon matches.
    if (/[\\/]tough-cookie[\\/]/u.test(id))
      return code.replace('(IP_V6_REGEX_OBJECT.test(str)', "(str.includes(':') && IP_V6_REGEX_OBJECT.test(str)")
    return undefined
  },
  load: (id) => (id.startsWith('\0replaced:') ? replaced[Number(id.slice('\0replaced:'.length))].by : undefined),
}

const isExternal = (id) => isBuiltin(id) || isInstalled(id)

export default defineConfig({
  input: { main: 'src/main.ts', 'public-suffix-list': 'tldts' },
  platform: 'node',
  external: (id, importer) => isExternal(id) && !replacementOf(id, importer),
  plugins: [withoutUnused, thirdPartyLicenses()],
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
          test: /[\\/]cli[\\/]src[\\/](?:one-call|program|interruption|output|warnings)\.ts$/u,
          priority: 2,
        },
        {
          name: 'token',
          test: /[\\/]cli[\\/]src[\\/]commands[\\/]token\.ts$|[\\/]token-store-file[\\/]/u,
          priority: 1,
        },
      ],
    },
  },
})
