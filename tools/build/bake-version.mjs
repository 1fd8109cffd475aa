/**
 * Part of a package's build: writes the manifest's version into `dist/version.js`, so that nothing looks for a manifest at run
 * time. A bundle has none, or the application's.
 *
 * `node tools/build/bake-version.mjs`, in the package's folder
 */
import { readFileSync, writeFileSync } from 'node:fs'

const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
const file = 'dist/version.js'
const built = readFileSync(file, 'utf8')
const baked = built.replace("'0.0.0-source'", `'${version}'`)
if (baked === built) throw new Error(`${file} has no place for the version`)
writeFileSync(file, baked)
