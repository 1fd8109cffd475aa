/**
 * A lint step: who may import whom. Arrows only ever point down (docs/architecture.md); an arrow that is not in this
 * table, an undeclared dependency of ours, or a relative import that leaves its package fails.
 *
 * `node tools/lint/import-arrows.mjs [ROOT]`
 */
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What the sources of a package may import of ours. Apps wire, so they may import every package. */
const allowed = {
  core: [],
  recorder: [],
  emulator: ['recorder'],
  'token-store-memory': ['core'],
  'token-store-file': ['core'],
  'token-store-redis': ['core'],
  'token-store-conformance': ['core'],
  passport: ['core', 'token-store-memory'],
  express: ['core'],
  cli: ['core', 'token-store-memory', 'token-store-file', 'token-store-redis', 'express', 'emulator'],
}

/** Packages whose build carries what it imports of ours: a development dependency is declaration enough. */
const bundled = ['cli']

const importPattern = /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)['"]([^'"]+)['"]/gu

const root = resolve(process.argv[2] ?? fileURLToPath(new URL('../../', import.meta.url)))
const problems = []
for (const group of ['packages', 'apps']) {
  for (const name of await foldersOf(join(root, group))) await checkPackage(group, name)
}
for (const problem of problems) console.error(problem)
process.exit(problems.length > 0 ? 1 : 0)

async function checkPackage(group, name) {
  const folder = join(root, group, name)
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  const declared = {
    ...manifest.dependencies,
    ...manifest.peerDependencies,
    ...(bundled.includes(name) ? manifest.devDependencies : {}),
  }
  const mayImport = group === 'apps' ? Object.keys(allowed) : allowed[name]
  if (mayImport === undefined) {
    problems.push(
      `packages/${name} is not in the table of ${relative(root, fileURLToPath(import.meta.url))}: add it with what it may import.`,
    )
    return
  }
  if (group === 'apps' && !manifest.private) problems.push(`apps/${name} must be private.`)
  for (const file of await sourcesOf(join(folder, 'src'))) {
    for (const [, specifier] of (await readFile(file, 'utf8')).matchAll(importPattern)) {
      const where = relative(root, file)
      if (specifier.startsWith('.') && relative(folder, resolve(dirname(file), specifier)).startsWith('..')) {
        problems.push(`${where} imports ${specifier}, outside its own package.`)
      }
      const ours = /^@owner-sso\/([^/]+)/u.exec(specifier)?.[1]
      if (ours === undefined) continue
      if (!mayImport.includes(ours))
        problems.push(
          `${where} imports @owner-sso/${ours}: ${group}/${name} may import ${mayImport.join(', ') || 'none of ours'}.`,
        )
      if (!(`@owner-sso/${ours}` in declared))
        problems.push(`${where} imports @owner-sso/${ours}, which its package.json does not declare.`)
    }
  }
}

async function foldersOf(group) {
  if (!existsSync(group)) return []
  return (await readdir(group)).filter((name) => existsSync(join(group, name, 'package.json')))
}

async function sourcesOf(folder) {
  if (!existsSync(folder)) return []
  const entries = await readdir(folder, { recursive: true })
  return entries.filter((entry) => /\.(?:ts|mts|js|mjs)$/u.test(entry)).map((entry) => join(folder, entry))
}
