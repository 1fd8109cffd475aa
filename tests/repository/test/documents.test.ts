import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from '@jest/globals'
import { codeIn, documents, readDocument } from '../../support/code-blocks.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))

describe.each(documents)('%s', (document) => {
  const text = readDocument(document)

  it('links to files that exist', () => {
    const inline = text.matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)]*)?\)/gu)
    const named = text.matchAll(/^\[[^\]]+\]: (?!https?:)([^#\s]+)/gmu)
    const targets = [...inline, ...named].map(([, target]) => target ?? '')
    const missing = targets.filter((target) => !existsSync(resolve(root, dirname(document), target)))
    expect(missing).toEqual([])
  })

  it('uses every link that it names', () => {
    const names = [...text.matchAll(/^\[([^\]]+)\]: /gmu)].map(([, name]) => name)
    const isUsed = (name: string | undefined): boolean => text.replaceAll(`[${name}]: `, '').includes(`[${name}]`)
    expect(names.filter((name) => !isUsed(name))).toEqual([])
  })

  it('fetches no command by a name that is not ours', () => {
    expect(text.match(/npx owner-sso\S*/gu) ?? []).toEqual([])
  })

  it('names scripts of npm that exist', () => {
    const named = codeIn(document).flatMap((code) => [
      ...code.matchAll(/\bnpm (?:run )?(start|test|(?<=run )[\w:-]+)/gu),
    ])
    const known = [...scriptsOf(root), ...scriptsOf(resolve(root, dirname(document)))]
    expect(named.map(([, name = '']) => name).filter((name) => !known.includes(name))).toEqual([])
  })

  it('names programs of the repository that exist', () => {
    const named = codeIn(document).flatMap((code) => [...code.matchAll(/\bnode (?:--\S+ )*((?:[\w.-]+\/)+[\w.-]+)/gu)])
    // What a build makes is named by its source. A command may be meant for the root, for the document's folder or, after cd, for a package.
    const places = [
      root,
      resolve(root, dirname(document)),
      join(root, 'packages/core'),
      join(root, 'packages/token-manager'),
    ]
    const missing = named
      .map(([, path = '']) => path.replace(/\bdist\/(.*)\.js$/u, 'src/$1.ts'))
      .filter((path) => !path.startsWith('node_modules/'))
      .filter((path) => !places.some((place) => existsSync(resolve(place, path))))
    expect(missing).toEqual([])
  })

  it('names sources that exist, whole or by the end of their path', () => {
    const all = ['packages', 'internal', 'examples', 'tools', 'tests']
      .flatMap((kind) => readdirSync(join(root, kind)).map((name) => join(root, kind, name)))
      .flatMap((folder) => [
        ...filesIn(folder),
        ...['src', 'test'].flatMap((name) => filesIn(join(folder, name), true)),
      ])
    const named = [...text.matchAll(/`((?:[\w.-]+\/)*[\w-]+\.tsx?)`/gu)].map(([, name = '']) => name)
    expect(named.filter((name) => !all.some((file) => file.endsWith(`/${name}`)))).toEqual([])
  })

  it('names variables that something reads', () => {
    const named = new Set(text.match(/\bOWNER_SSO_[A-Z][A-Z_]*[A-Z]\b/gu))
    expect([...named].filter((name) => !sources().includes(name))).toEqual([])
  })
})

it('the command knows every variable of ours that a package or an app reads, so that it calls none mistyped', () => {
  const codes = /\bcode(?::| ===) 'OWNER_SSO_\w+'|OWNER_SSO_CALLBACK\b/gu
  const read = sourcesIn(['packages', 'examples']).replaceAll(codes, '')
  const folder = join(root, 'packages/cli/src/settings')
  const settings = readFileSync(join(folder, 'setting-table.ts'), 'utf8').matchAll(/^ {2}(\w+): row\(/gmu)
  const ofSettings = [...settings].map(
    ([, name = '']) => `OWNER_SSO_${name.replaceAll(/[A-Z]/gu, (letter) => `_${letter}`).toUpperCase()}`,
  )
  const list = [readFileSync(join(folder, 'setting-table.ts'), 'utf8'), ...ofSettings].join(' ')
  const names = (text: string): string[] => [...new Set(text.match(/\bOWNER_SSO_[A-Z_]+\b/gu))].toSorted()
  expect(names(list)).toEqual(names(read))
})

it('docs/reference/errors.md has a row for every code that a package or an app gives, and for no other', () => {
  const codes = (text: string): string[] =>
    [...new Set(text.match(/\bERR_(?:SSO|OWNER_API|BROKER|GATEWAY)_[A-Z_]+\b/gu))].toSorted()
  const rows = readDocument('docs/reference/errors.md').match(/^\| `ERR_\w+`/gmu) ?? []
  expect(codes(rows.join('\n'))).toEqual(codes(sourcesIn(['packages', 'examples'])))
})

it('docs/guides/why-signed-out.md has a row for every cause, and for no other', () => {
  const source = readFileSync(join(root, 'packages/token-manager/src/manager/why.ts'), 'utf8')
  const [, rows = ''] = /^const rows: .*\n([^]*?)^\}$/mu.exec(source) ?? []
  const causes = [...rows.matchAll(/^ {2}'?([a-z-]+)'?: \{$/gmu)].map(([, cause]) => cause)
  const told = [...readDocument('docs/guides/why-signed-out.md').matchAll(/^\| `([a-z-]+)` +\| [a-z]/gmu)]
  expect(causes.length).toBeGreaterThan(20)
  expect(
    told
      .map(([, cause]) => cause)
      .filter((cause) => cause !== 'cause')
      .toSorted(byName),
  ).toEqual(causes.toSorted(byName))
})

it('docs/guides/where-tokens-live.md has a row for every reason of a StoreError, and for no other', () => {
  const source = readFileSync(join(root, 'packages/token-manager/src/errors.ts'), 'utf8')
  const [, union = ''] = /type StoreErrorReason =((?:\s*\| '[\w-]+')+)/u.exec(source) ?? []
  const reasons = [...union.matchAll(/'([\w-]+)'/gu)].map(([, reason = '']) => reason)
  const [, table = ''] = /^\| `reason` .*\n((?:\|.*\n)+)/mu.exec(readDocument('docs/guides/where-tokens-live.md')) ?? []
  const cells = table.split('\n').map((row) => row.split('|')[1] ?? '')
  const rows = cells.flatMap((cell) => [...cell.matchAll(/`([\w-]+)`/gu)].map(([, reason = '']) => reason))
  expect(rows.toSorted()).toEqual(reasons.toSorted())
})

it('docs/reference/supported-versions.md leads to each line that asks which system it is', () => {
  const document = 'docs/reference/supported-versions.md'
  const [, list = ''] = readDocument(document).split('## Windows and macOS')
  const rows = list.split('\n').flatMap((row) => {
    const [, , , place = ''] = row.split('|')
    const files = [...place.matchAll(/\]\(([^)]+)\)/gu)].map(([, target = '']) => join(root, dirname(document), target))
    return files.map((file) => ({ file, code: /`(.+)`/u.exec(place)?.[1] ?? '' }))
  })
  expect(rows.filter(({ file, code }) => code === '' || !readFileSync(file, 'utf8').includes(code))).toEqual([])
  const asking = readdirSync(join(root, 'packages')).flatMap((name) =>
    filesIn(join(root, 'packages', name, 'src'), true).filter(
      (file) => file.endsWith('.ts') && /process\.(?:getuid|platform(?!\}))/u.test(readFileSync(file, 'utf8')),
    ),
  )
  expect(rows.map(({ file }) => file)).toEqual(expect.arrayContaining(asking))
})

function scriptsOf(folder: string): string[] {
  const manifest = join(folder, 'package.json')
  if (!existsSync(manifest)) return []
  const { scripts = {} }: { scripts?: Record<string, string> } = JSON.parse(readFileSync(manifest, 'utf8'))
  return Object.keys(scripts)
}

let allSources: string | undefined
/** The text of all programs that read the environment. */
function sources(): string {
  allSources ??= sourcesIn(['packages', 'examples', 'tools', 'tests'], ['src', 'test'])
  return allSources
}

/** @param folders - those of each package that count, with all that is below them */
function sourcesIn(kinds: readonly string[], folders: readonly string[] = ['src']): string {
  return kinds
    .flatMap((kind) => readdirSync(join(root, kind)).map((name) => join(root, kind, name)))
    .flatMap((folder) => [...filesIn(folder), ...folders.flatMap((name) => filesIn(join(folder, name), true))])
    .filter((path) => /\.(?:ts|mjs)$/u.test(path))
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n')
}

function filesIn(folder: string, recursive = false): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive, encoding: 'utf8' }).map((name) => join(folder, name))
}

const byName = (one = '', other = ''): number => one.localeCompare(other)
