/**
 * Part of a package's build: copies what a private package of ours was built into, so that what is published depends on nothing
 * that is not. Its sources import it as `#NAME`, which the manifest's `imports` leads to the copy.
 *
 * `node tools/build/carry.mjs NAME`, in the package's folder: `internal/NAME/dist` becomes `dist/NAME`
 */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const [name] = process.argv.slice(2)
cpSync(fileURLToPath(new URL(`../../internal/${name}/dist`, import.meta.url)), join('dist', name), { recursive: true })
