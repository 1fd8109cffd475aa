/**
 * A plug-in for the bundle: the licenses of all packages whose code is in it, in one file beside it, as they ask for.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** @returns {import('rolldown').Plugin} */
export function thirdPartyLicenses() {
  return {
    name: 'third-party-licenses',
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap((output) => (output.type === 'chunk' ? output.moduleIds : []))
      const folders = [...new Set(modules.map(packageFolder).filter((folder) => folder !== undefined))]
      const source = folders
        .map(notice)
        .toSorted((a, b) => a.localeCompare(b))
        .join(`\n${'-'.repeat(80)}\n\n`)
      this.emitFile({ type: 'asset', fileName: 'THIRD-PARTY-LICENSES.txt', source })
    },
  }
}

/** The folder of the installed package that a module belongs to; undefined for a module of ours. */
function packageFolder(id) {
  return /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+(?=[\\/])/u.exec(id.replace(/^\0/u, ''))?.[0]
}

function notice(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/iu.test(entry))
  const text = file !== undefined && existsSync(join(folder, file)) ? readFileSync(join(folder, file), 'utf8') : ''
  return `${name} ${version} (${license})\n\n${text.trim()}\n`
}
