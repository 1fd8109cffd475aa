/**
 * Part of a package's build: puts the modules in `dist/` together, into a file for each entry of the manifest's `exports`, what they
 * share, and what is imported later. Node takes longer to find and open a hundred small files than to run what is in them.
 *
 * `node tools/build/bundle.mjs`, in the package's folder, after tsc. Other packages stay imports; types stay as they are.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { rolldown } from 'rolldown'

const { exports } = JSON.parse(readFileSync('package.json', 'utf8'))
const input = Object.values(exports).flatMap((entry) => entry.default ?? [])
/** What every program loads. */
const shared = ['./dist/index.js', './dist/support.js']
const modules = readdirSync('dist', { recursive: true }).filter((file) => file.endsWith('.js'))

// By its path: two entries may be called alike.
const named = Object.fromEntries(input.map((file) => [relative('dist', file).replace(/\.js$/u, ''), file]))
const bundle = await rolldown({ input: named, platform: 'node', external: /^[^./]/u })
const { output } = await bundle.write({
  dir: 'dist',
  chunkFileNames: '[name].js',
  // With all that the entries import at once, but for one that few programs import.
  codeSplitting: { groups: [{ name: 'entries', test: (id) => shared.includes(`./${relative('.', id)}`) }] },
  // What other bundlers read; what people read is in the types.
  comments: { annotation: true, legal: true, jsdoc: false },
})
await bundle.close()

const written = new Set(output.map(({ fileName }) => fileName))
for (const module of modules) if (!written.has(module)) rmSync(join('dist', module))
