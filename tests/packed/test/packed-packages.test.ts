/** What is published, from its tarball: packed as a release packs it, installed into an empty project, used there. */
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { describe, expect, it } from '@jest/globals'
import { publint } from 'publint'
import { entries, manifestIn, packages, published } from '../../support/published.ts'
import { installed, project, runCommand, runInProject, tarballOf, tsc } from './empty-project.ts'

describe.each(published)('the tarball of $name', ({ name, folder, exports }) => {
  it('holds what was built, its README, its licence and nothing else', () => {
    const files = filesOf(name)
    // A store in SQL brings its table, to copy into an application's migrations.
    const tables = name.endsWith('-sql') ? ['migrations/postgresql.sql', 'migrations/sqlite.sql'] : []
    const dashboard = name.endsWith('/opentelemetry') ? ['grafana-dashboard.json'] : []
    // What Node-RED's import dialog offers.
    const flows = name.endsWith('/node-red') ? ['vehicles', 'http request with a token'] : []
    const examples = flows.map((flow) => `examples/${flow}.json`)
    const allowed = ['LICENSE', 'README.md', 'package.json', ...tables, ...dashboard, ...examples]
    expect(files.filter((file) => !allowed.includes(file) && !file.startsWith('dist/'))).toEqual([])
    expect(files.filter((file) => file.endsWith('.tsbuildinfo') || /\.test\./u.test(file))).toEqual([])
    expect(files).toEqual(expect.arrayContaining(['LICENSE', expect.stringMatching(/^dist\/(?:index|main)\./u)]))
    expect(files.includes('README.md')).toBe(existsSync(join(packages, folder, 'README.md')))
  })

  it('has source maps that bring their sources along, or none', () => {
    const files = filesOf(name)
    const read = (file: string): string => readFileSync(join(installed(name), file), 'utf8')
    const maps = files
      .filter((file) => /\.(?:[cm]?js|d\.[cm]?ts)$/u.test(file))
      .flatMap((file) => {
        const [, map] = /^\/\/# sourceMappingURL=(\S+)\s*$(?![\s\S])/mu.exec(read(file)) ?? []
        return map === undefined ? [] : [join(dirname(file), decodeURI(map))]
      })
    const dangling = maps.filter((map) => !files.includes(map))
    const withoutSource = maps.filter((map) => {
      if (!files.includes(map)) return false
      const { sources, sourcesContent = [] }: { sources: string[]; sourcesContent?: string[] } = JSON.parse(read(map))
      return !sources.every((source, index) => sourcesContent[index] ?? files.includes(join(dirname(map), source)))
    })
    expect({ dangling, withoutSource }).toEqual({ dangling: [], withoutSource: [] })
  })

  it('names the versions of its dependencies as a registry understands them', () => {
    const { version, dependencies, peerDependencies } = manifestIn(installed(name))
    expect(version).toBe(manifestIn(join(packages, folder)).version)
    for (const [dependency, range] of Object.entries({ ...dependencies, ...peerDependencies }))
      expect(`${dependency} ${range}`).toMatch(/ (?:\*|(?:\^|>=)\d+\.\d+\.\d+(?: <1\.0\.0)?)$/u)
  })

  it('takes the fixes of its dependencies as they come, and whatever types of Express the application has', () => {
    const { dependencies = {} } = manifestIn(installed(name))
    for (const [dependency, range] of Object.entries(dependencies)) {
      expect(`${dependency} ${range}`).toMatch(dependency === '@types/express' ? / \*$/u : / \^\d/u)
    }
  })

  it('names the versions of Node that the matrix runs', () => {
    expect(manifestIn(installed(name)).engines).toEqual({ node: '^20.19 || ^22.12 || >=24' })
  })

  it('has its version in its code, and reads no package.json, which a bundle would not have', () => {
    const code = filesOf(name).filter((file) => /^dist\/(?!inspector).*\.c?js$/u.test(file))
    const read = code.map((file) => readFileSync(join(installed(name), file), 'utf8')).join('\n')
    // A manifest that is bundled as data may name itself among its exports.
    const looked = read.replaceAll(/"\.\/package\.json":[`"']\.\/package\.json[`"']/gu, '')
    const found = looked.matchAll(/.{0,40}(?:0\.0\.0-source|(?<!@owner-sso\/emulator\/)package\.json['"`])/gu)
    expect([...found].map(([text]) => text)).toEqual([])
  })

  it('satisfies publint', async () => {
    const tarball = new Uint8Array(readFileSync(tarballOf(name))).buffer
    const { messages } = await publint({ pack: { tarball }, strict: true })
    expect(messages).toEqual([])
  })

  it('has the types that its modules have', async () => {
    const result = await checkPackage(createPackageFromTarballData(readFileSync(tarballOf(name))))
    // ES modules alone: who resolves as a CommonJS module of old would, is promised no types.
    const notPromised = new Set<string>(['node10', 'node16-cjs'])
    const problems = result.types === false ? [] : result.problems
    expect(
      problems.filter((problem) => !('resolutionKind' in problem && notPromised.has(problem.resolutionKind))),
    ).toEqual([])
    expect(result.types !== false).toBe('.' in exports)
  })
})

describe('the tarball of @owner-sso/emulator', () => {
  it('brings the inspector’s page along', () => {
    const page = ['THIRD-PARTY-LICENSES.txt', 'index.html', 'inspector.css', 'inspector.js']
    expect(filesOf('@owner-sso/emulator')).toEqual(
      expect.arrayContaining(page.map((file) => `dist/inspector/page/${file}`)),
    )
  })
})

describe('all of them installed into one empty project', () => {
  it.each(entries)('%s loads with require() and with import()', async (name) => {
    const [required = [], imported] = await evaluate(`[require('${name}'), await import('${name}')].map(Object.keys)`)
    expect(required.length).toBeGreaterThan(0)
    expect(required.filter((key) => key !== '__esModule')).toEqual(imported)
  })

  it('owner-sso starts', async () => {
    expect(await runCommand('owner-sso', ['--help'])).toContain('owner-sso')
  })

  // The name of a package: a bare command that is not installed would be fetched from whoever takes that name.
  it('npx @owner-sso/emulator starts, as each of its examples is written', async () => {
    const help = await runInProject('npx', ['--no', '--', '@owner-sso/emulator', '--help'], { HOME: project })
    const examples = help.split('Examples:\n')[1]!.trimEnd().split('\n')
    expect(examples.filter((line) => !line.startsWith('  npx @owner-sso/emulator '))).toEqual([])
    expect(await runCommand('owner-sso', ['emulator', '--help'])).toBe(help)
  })

  it('their declarations compile with the oldest TypeScript that is promised, libraries of others included', async () => {
    const lines = entries.map((entry, index) => `export * as _${index} from '${entry}'`)
    writeFileSync(join(project, 'everything.mts'), lines.join('\n'))
    const options = ['--noEmit', '--strict', '--skipLibCheck', 'false', '--target', 'es2022', '--module', 'nodenext']
    await expect(tsc([...options, 'everything.mts'])).resolves.toBe('')
  }, 60_000)
})

/** The files that an installed package brought, by their paths in it; not what npm put into its node_modules. */
function filesOf(name: string): string[] {
  return readdirSync(installed(name), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(installed(name).length + 1))
    .filter((file) => !file.startsWith('node_modules'))
    .toSorted()
}

/** What an expression is in a fresh Node inside the project. */
async function evaluate(expression: string): Promise<string[][]> {
  const program = `(async () => console.log(JSON.stringify(${expression})))()`
  return JSON.parse(await runInProject(process.execPath, ['--no-warnings', '--input-type=commonjs', '-e', program]))
}
