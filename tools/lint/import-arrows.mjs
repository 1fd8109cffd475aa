/**
 * A lint step: who may import whom. Arrows only ever point down (docs/internals/architecture.md); an arrow that is not in these
 * tables, an undeclared dependency of ours, a relative import that leaves its package, or a circle of files fails. Imports of
 * types count.
 *
 * `node tools/lint/import-arrows.mjs [ROOT]`
 */
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What the sources of a package may import of ours. Apps wire, so they may import every package. */
const allowed = {
  'token-manager': [],
  core: ['token-manager'],
  opentelemetry: [],
  emulator: [],
  'token-store-memory': ['token-manager'],
  'token-store-file': ['token-manager'],
  'token-store-redis': ['token-manager'],
  'token-store-sql': ['token-manager'],
  'token-store-conformance': ['token-manager'],
  passport: ['core', 'token-store-memory'],
  express: ['core'],
  broker: ['core', 'express', 'sign-in-pages'],
  'node-red': ['core', 'express', 'token-store-file'],
  cli: [
    'token-manager',
    'core',
    'token-store-memory',
    'token-store-file',
    'token-store-redis',
    'token-store-sql',
    'express',
    'broker',
    'emulator',
  ],
}

/** What is private and built into others: an app may import it, and a published package carries a copy, as `#NAME`. */
const internal = { 'sign-in-pages': ['core'] }

/**
 * The folders of a package that has such a table, in layers from the bottom: a row names only rows above it, so that no two
 * folders import each other. Files in none of the folders are under all of them, or have the row `''`; the package's entries
 * may import everything.
 *
 * The token manager knows no service, and core keeps no tokens: they meet in the token manager's `issuer`.
 */
const folders = {
  'token-manager': {
    support: [],
    http: ['support'],
    issuer: ['support'],
    oauth: ['issuer', 'http', 'support'],
    store: ['issuer', 'support'],
    kernel: ['store', 'issuer', 'support'],
    gates: ['kernel', 'store', 'issuer', 'support'],
    'saved-once': ['store', 'support'],
    'watch-over': ['kernel', 'store', 'support'],
    manager: ['watch-over', 'saved-once', 'gates', 'kernel', 'store', 'issuer', 'support'],
    keeper: ['manager', 'kernel', 'store', 'issuer', 'support'],
  },
  core: {
    support: [],
    firewall: [],
    pages: [],
    http: ['pages', 'firewall', 'support'],
    service: ['http', 'support'],
    steps: ['service', 'http', 'pages'],
    login: ['steps', 'service', 'http', 'pages', 'support'],
  },
  // What answers a call knows neither the alerts nor the status page.
  broker: {
    given: [],
    clients: ['given'],
    http: ['clients', 'given'],
    listen: ['http', 'given'],
    '': ['clients', 'http', 'listen', 'given'],
    alerts: ['given'],
    'status-page': ['clients', 'http', 'given'],
  },
  // What the service remembers, what it answers from that, and how a person or a test has a hand in it.
  emulator: {
    support: [],
    options: ['support'],
    http: ['options'],
    state: ['http', 'options', 'support'],
    faults: ['state', 'http', 'options'],
    journal: ['faults', 'state', 'http', 'options', 'support'],
    pages: ['state', 'http', 'options', 'support'],
    answers: ['pages', 'journal', 'faults', 'http', 'options'],
    service: ['answers', 'pages', 'journal', 'faults', 'state', 'http', 'options'],
    switches: ['service', 'journal', 'faults', 'state', 'http', 'options', 'support'],
    control: ['switches', 'answers', 'journal', 'faults', 'state', 'http', 'options', 'support'],
    inspector: ['control', 'answers', 'journal', 'http'],
    recorder: ['http', 'options', 'support'],
    command: ['recorder', 'control', 'switches', 'journal', 'faults', 'state', 'options'],
  },
  // What every command has, from how it fails to its settings; what a kind of them is made of; the commands; what reads the line.
  cli: {
    failure: [],
    terminal: ['failure'],
    machine: ['failure'],
    keyring: ['machine', 'terminal', 'failure'],
    stores: ['keyring', 'machine', 'terminal', 'failure'],
    options: ['stores'],
    settings: ['options', 'stores', 'keyring', 'machine', 'terminal', 'failure'],
    window: ['machine', 'failure'],
    tokens: ['settings', 'stores', 'keyring', 'machine', 'terminal', 'failure'],
    moving: ['settings', 'terminal', 'failure'],
    doctor: ['tokens', 'settings', 'stores', 'machine', 'terminal', 'failure'],
    'sign-in': ['window', 'options', 'settings', 'keyring', 'machine', 'terminal', 'failure'],
    broker: ['tokens', 'options', 'settings', 'machine', 'terminal', 'failure'],
    commands: [
      ['broker', 'sign-in', 'doctor', 'moving', 'tokens', 'keyring', 'stores'],
      ['settings', 'options', 'machine', 'terminal', 'failure'],
    ].flat(),
    'command-line': ['commands', 'settings', 'options', 'terminal', 'failure'],
    '': ['command-line'],
  },
}

/** What a package exports or starts with: it may import everything. */
const exported = new Set(['index.ts', 'support.ts', 'http.ts', 'jest.ts', 'cli.ts', 'start-emulator.ts'])

/** A folder with an entry is a room: from outside, only its entry is imported. */
const entryOfRoom = 'index.ts'

/** Packages whose build carries what it imports of ours: a development dependency is declaration enough. */
const bundled = ['cli']

const importPattern = /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)['"]([^'"]+)['"]/gu

const root = resolve(process.argv[2] ?? fileURLToPath(new URL('../../', import.meta.url)))
const problems = []
for (const group of ['packages', 'internal', 'examples']) {
  for (const name of await foldersOf(join(root, group))) await checkPackage(group, name)
}
for (const problem of problems) console.error(problem)
process.exit(problems.length > 0 ? 1 : 0)

/** The arrows within a package: between its folders, and no circle of files. */
function checkFiles(name, source, imports) {
  const table = folders[name]
  const rows = Object.keys(table ?? {})
  for (const [at, row] of rows.entries()) {
    const above = rows.slice(0, at)
    for (const other of table[row].filter((each) => !above.includes(each))) {
      problems.push(
        `The row ${row} of ${name} names ${other}, which is not above it: folders may not import each other.`,
      )
    }
  }
  const folderOf = (file) => /^([^/]+)\//u.exec(relative(source, file))?.[1]
  for (const [file, imported] of imports) {
    for (const other of imported) {
      const room = folderOf(other)
      const door = room === undefined ? undefined : join(source, room, entryOfRoom)
      if (door === undefined || door === other || folderOf(file) === room || !imports.has(door)) continue
      problems.push(
        `${relative(root, file)} imports ${relative(root, other)}: ${room} is entered by ${relative(root, door)}.`,
      )
    }
  }
  for (const [file, imported] of table ? imports : []) {
    const from = folderOf(file)
    if (exported.has(relative(source, file))) continue
    if (from !== undefined && table[from] === undefined) {
      problems.push(
        `${relative(root, file)} is in a folder that has no row in the table of ${relative(root, fileURLToPath(import.meta.url))}.`,
      )
    }
    for (const other of imported) {
      const to = folderOf(other)
      const mayImport = table[from ?? ''] ?? ['support']
      if (to === undefined || to === '..' || to === from || mayImport.includes(to)) continue
      problems.push(
        `${relative(root, file)} imports ${relative(root, other)}: ${from ?? 'this file'} may import ${mayImport.join(', ') || 'no folder'}.`,
      )
    }
  }
  for (const circle of circlesIn(imports)) {
    problems.push(`These files import each other: ${circle.map((file) => relative(root, file)).join(' → ')}.`)
  }
}

/** One way round each circle that a walk through the files meets. */
function circlesIn(imports) {
  const circles = []
  const done = new Set()
  const walk = (file, path) => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file])
    if (done.has(file)) return
    done.add(file)
    for (const imported of imports.get(file) ?? []) walk(imported, [...path, file])
  }
  for (const file of imports.keys()) walk(file, [])
  return circles
}

async function checkPackage(group, name) {
  const folder = join(root, group, name)
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  const declared = {
    ...manifest.dependencies,
    ...manifest.peerDependencies,
    ...(bundled.includes(name) ? manifest.devDependencies : {}),
  }
  const mayImport = group === 'examples' ? Object.keys({ ...allowed, ...internal }) : { ...allowed, ...internal }[name]
  if (mayImport === undefined) {
    problems.push(
      `${group}/${name} is not in the table of ${relative(root, fileURLToPath(import.meta.url))}: add it with what it may import.`,
    )
    return
  }
  if (group !== 'packages' && !manifest.private) problems.push(`${group}/${name} must be private.`)
  const files = await sourcesOf(join(folder, 'src'))
  const imports = new Map(files.map((file) => [file, []]))
  for (const file of files) {
    for (const [, specifier] of (await readFile(file, 'utf8')).matchAll(importPattern)) {
      const where = relative(root, file)
      if (specifier.startsWith('.') && relative(folder, resolve(dirname(file), specifier)).startsWith('..')) {
        problems.push(`${where} imports ${specifier}, outside its own package.`)
      }
      if (specifier.startsWith('.')) imports.get(file).push(resolve(dirname(file), specifier))
      const [, scope, ours] = /^(@owner-sso\/|#)([^/]+)/u.exec(specifier) ?? []
      if (ours === undefined) continue
      if (ours in internal && group === 'packages' && scope !== '#') {
        problems.push(
          `${where} imports ${specifier}, which is private: its build carries it, and it is imported as #${ours}.`,
        )
      }
      if (!mayImport.includes(ours))
        problems.push(
          `${where} imports @owner-sso/${ours}: ${group}/${name} may import ${mayImport.join(', ') || 'none of ours'}.`,
        )
      if (!(`@owner-sso/${ours}` in (scope === '#' ? (manifest.devDependencies ?? {}) : declared)))
        problems.push(`${where} imports @owner-sso/${ours}, which its package.json does not declare.`)
    }
  }
  checkFiles(name, join(folder, 'src'), imports)
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
