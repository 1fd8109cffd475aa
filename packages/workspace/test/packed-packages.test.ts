/** What is published, from its tarball: packed as a release packs it, installed into an empty project, used there. */
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { describe, expect, it } from '@jest/globals'
import { publint } from 'publint'
import {
  commands,
  entries,
  installed,
  manifestIn,
  packages,
  project,
  published,
  runCommand,
  runInProject,
  tarballOf,
  tsc,
} from './empty-project.ts'

describe.each(published)('the tarball of $name', ({ name, folder, exports }) => {
  it('holds what was built, its README, its licence and nothing else', () => {
    const files = filesOf(name)
    const allowed = ['LICENSE', 'README.md', 'package.json']
    expect(files.filter((file) => !allowed.includes(file) && !file.startsWith('dist/'))).toEqual([])
    expect(files.filter((file) => file.endsWith('.tsbuildinfo') || /\.test\./u.test(file))).toEqual([])
    expect(files).toEqual(expect.arrayContaining(['LICENSE', expect.stringMatching(/^dist\/(?:index|main)\./u)]))
    expect(files.includes('README.md')).toBe(existsSync(join(packages, folder, 'README.md')))
  })

  it('names the versions of its dependencies as a registry understands them', () => {
    const { version, dependencies, peerDependencies } = manifestIn(installed(name))
    expect(version).toBe(manifestIn(join(packages, folder)).version)
    for (const [dependency, range] of Object.entries({ ...dependencies, ...peerDependencies }))
      expect(`${dependency} ${range}`).toMatch(/ (?:\^|>=)?\d+\.\d+\.\d+$/u)
  })

  it('says for which Node it is: those that the matrix runs', () => {
    expect(manifestIn(installed(name)).engines).toEqual({ node: '^20.19 || ^22.12 || >=24' })
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

  it.each(commands)('%s starts', async (command) => {
    const printed = await runCommand(command, ['--help'])
    expect(printed).toContain(command)
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
