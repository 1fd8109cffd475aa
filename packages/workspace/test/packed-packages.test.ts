/** What is published, from its tarball: packed as a release packs it, installed into an empty project, used there. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { publint } from 'publint'

/** The oldest TypeScript that our declarations promise to work with. */
const oldestTypeScript = '5.9.3'

const packages = fileURLToPath(new URL('../../', import.meta.url))
const published = readdirSync(packages)
  .map((folder) => ({ folder, ...manifestIn(join(packages, folder)) }))
  .filter((manifest) => !manifest.private)
const libraries = published.filter(({ exports }) => '.' in exports)
const commands = published.flatMap(({ bin = {} }) => Object.keys(bin))

// Outside the repository: nothing of its node_modules may be found from here.
const scratch = mkdtempSync(join(tmpdir(), 'owner-sso-packed-'))
const project = join(scratch, 'empty-project')
const tarballs = new Map<string, string>()

beforeAll(async () => {
  await pack()
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{ "private": true }')
  const install = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline']
  await run('npm', [...install, ...tarballs.values(), `typescript@${oldestTypeScript}`])
}, 180_000)
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

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

describe('all of them installed into one empty project', () => {
  it.each(libraries.map(({ name }) => name))('%s loads with require() and with import()', async (name) => {
    const [required = [], imported] = await evaluate(`[require('${name}'), await import('${name}')].map(Object.keys)`)
    expect(required.length).toBeGreaterThan(0)
    expect(required.filter((key) => key !== '__esModule')).toEqual(imported)
  })

  it.each(commands)('%s starts', async (command) => {
    const printed = await run(join(project, 'node_modules/.bin', command), ['--help'])
    expect(printed).toContain(command)
  })

  it(`their declarations compile with TypeScript ${oldestTypeScript}, libraries of others included`, async () => {
    const lines = libraries.map(({ name }, index) => `export * as _${index} from '${name}'`)
    writeFileSync(join(project, 'everything.mts'), lines.join('\n'))
    const options = ['--noEmit', '--strict', '--skipLibCheck', 'false', '--target', 'es2022', '--module', 'nodenext']
    await expect(tsc([...options, 'everything.mts'])).resolves.toBe('')
  }, 60_000)
})

interface Manifest {
  name: string
  version: string
  private?: boolean
  bin?: Record<string, string>
  exports: Record<string, unknown>
  dependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}

function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

/** Packs with the pnpm that `packageManager` names: it is what writes versions in place of `workspace:` and `catalog:`. */
async function pack(): Promise<void> {
  const pnpm = join(packages, 'workspace/pnpm.mjs')
  const chosen = published.flatMap(({ name }) => ['--filter', name])
  const output = await run(
    process.execPath,
    [pnpm, ...chosen, 'pack', '--pack-destination', scratch, '--json'],
    packages,
  )
  const packed: { name: string; filename: string }[] = JSON.parse(output)
  for (const { name, filename } of packed) tarballs.set(name, filename)
}

function tarballOf(name: string): string {
  const tarball = tarballs.get(name)
  if (!tarball) throw new Error(`${name} was not packed`)
  return tarball
}

function installed(name: string): string {
  return join(project, 'node_modules', name)
}

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
  return JSON.parse(await run(process.execPath, ['--no-warnings', '--input-type=commonjs', '-e', program]))
}

/** What the compiler of the project printed: nothing, when all is well. */
async function tsc(options: string[]): Promise<string> {
  const compiler = join(project, 'node_modules/typescript/bin/tsc')
  return run(process.execPath, [compiler, ...options]).catch((error: { stdout: string }) => error.stdout)
}

async function run(program: string, args: string[], cwd = project): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, { cwd, maxBuffer: 16 * 1024 * 1024 })
  return stdout
}
