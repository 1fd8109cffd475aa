/** What a release would be: `changeset version` in a clone, so that nothing here changes. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { manifestIn, published } from '../../support/published.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), 'owner-sso-release-'))
const clone = join(scratch, 'clone')

function makeVersions(): void {
  const changeset = join(root, 'node_modules/@changesets/cli/bin.js')
  execFileSync(process.execPath, [changeset, 'version'], { cwd: clone, env: environment, stdio: 'pipe' })
}
const environment = { PATH: process.env['PATH'], HOME: scratch, GIT_CONFIG_GLOBAL: join(scratch, 'gitconfig') }

beforeAll(() => {
  // In a container the files may belong to somebody else.
  writeFileSync(join(scratch, 'gitconfig'), '[safe]\n  directory = *\n')
  execFileSync('git', ['clone', '--quiet', root, clone], { env: environment })
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'))
  makeVersions()
})
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

describe.each(published)('the first release of $name', ({ name, folder }) => {
  it('is 0.1.0', () => {
    expect(manifestIn(join(clone, 'packages', folder)).version).toBe('0.1.0')
  })

  it('has a changelog of sentences about it', () => {
    const changelog = readFileSync(join(clone, 'packages', folder, 'CHANGELOG.md'), 'utf8')
    const [title, version, kind, ...entries] = changelog.split(/\n+/u).filter(Boolean)
    expect([title, version, kind]).toEqual([`# ${name}`, '## 0.1.0', '### Minor Changes'])
    expect(entries[0]).toMatch(/^- [0-9a-f]{7,}: .+[^ ]/u)
  })
})

it('leaves no changeset behind, and private packages alone', () => {
  expect(readdirSync(join(clone, '.changeset'))).toEqual(['config.json'])
  for (const folder of readdirSync(join(clone, 'packages'))) {
    const { private: isPrivate, version } = manifestIn(join(clone, 'packages', folder))
    if (!isPrivate) continue
    expect([version, existsSync(join(clone, 'packages', folder, 'CHANGELOG.md'))]).toEqual(['0.0.0', false])
  }
})

it('packs nothing before manifests and READMEs link home, which one command makes them do', () => {
  const run = (...args: string[]): ReturnType<typeof spawnSync> =>
    spawnSync(process.execPath, args, { cwd: clone, env: environment, encoding: 'utf8' })
  const refused = run('tools/build/pack.mjs', 'tarballs')
  expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining('node tools/build/link-home.mjs')])

  for (const wrong of [[], ['github.com/o/n'], ['http://github.com/o/n'], ['https://github.com/o']]) {
    expect(run('tools/build/link-home.mjs', ...wrong).status).toBe(2)
  }
  const address = 'https://github.com/o/n'
  expect(run('tools/build/link-home.mjs', address).status).toBe(0)
  for (const { folder, keywords } of published) {
    const readme = readFileSync(join(clone, 'packages', folder, 'README.md'), 'utf8')
    const leadingOut = [...readme.matchAll(/\]\((?:\.\.\/|https:\/\/github\.com\/o\/n\/)([^)]+)\)/gu)]
    for (const [link] of leadingOut) expect(link).toContain(`(${address}/blob/main/`)
    const paths = leadingOut.map(([, path = '']) => path.replace(/^blob\/main\//u, '').replace(/#.*/u, ''))
    expect(paths.filter((path) => !existsSync(join(clone, path)))).toEqual([])
    expect(manifestIn(join(clone, 'packages', folder))).toMatchObject({
      keywords,
      homepage: `${address}/tree/main/packages/${folder}#readme`,
      bugs: { url: `${address}/issues` },
      repository: { type: 'git', url: `git+${address}.git`, directory: `packages/${folder}` },
    })
  }
})

it('gives all of them one version: a fix of core reaches the command, which bundles it, and needs no new major', () => {
  const versions = (): string[] => [
    ...new Set(published.map(({ folder }) => manifestIn(join(clone, 'packages', folder)).version)),
  ]
  for (const [bump, next] of [
    ['patch', '0.1.1'],
    ['minor', '0.2.0'],
  ]) {
    writeFileSync(join(clone, '.changeset/fix.md'), `---\n'@owner-sso/core': ${bump}\n---\n\nA fix.\n`)
    makeVersions()
    expect(versions()).toEqual([next])
  }
})
