/**
 * Part of a package's build: where its programs begin. What a program's first file was built into moves aside, and in its place
 * comes `entry.cjs`, which every Node can read and which loads the rest: imports of the file itself would all be loaded before its
 * first line is run.
 *
 * `node ../../tools/build/entry.mjs NAME...`, in the package's folder: `dist/NAME.js` or `.cjs` becomes `dist/NAME-program.js` or `.cjs`
 */
import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { extname } from 'node:path'

const { name, bin, engines } = JSON.parse(readFileSync('package.json', 'utf8'))
const template = readFileSync(new URL('entry.cjs', import.meta.url), 'utf8')

for (const file of process.argv.slice(2)) {
  const type = extname(file)
  const program = `${file.slice(0, -type.length)}-program${type}`
  renameSync(`dist/${file}`, `dist/${program}`)
  // Node's loader of ES modules would take time that a CommonJS program does not need.
  const load = type === '.cjs' ? 'require' : 'import'
  const [called] = Object.keys(bin ?? { [name]: file })
  const entry = template
    .replace('NAME', called)
    .replace('NODES', engines.node)
    .replace("load('PROGRAM')", `${load}('./${program}')`)
  writeFileSync(`dist/${file}`, entry)
  chmodSync(`dist/${file}`, 0o755)
}
