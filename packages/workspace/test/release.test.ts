/** What a release would be: `changeset version` in a clone, so that nothing here changes. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { manifestIn, published } from './empty-project.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), 'owner-sso-release-'))
const clone = join(scratch, 'clone')

beforeAll(() => {
  // In a container the files may belong to somebody else.
  writeFileSync(join(scratch, 'gitconfig'), '[safe]\n  directory = *\n')
  const env = { PATH: process.env['PATH'], HOME: scratch, GIT_CONFIG_GLOBAL: join(scratch, 'gitconfig') }
  execFileSync('git', ['clone', '--quiet', root, clone], { env })
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'))
  const changeset = join(root, 'node_modules/@changesets/cli/bin.js')
  execFileSync(process.execPath, [changeset, 'version'], { cwd: clone, env, stdio: 'pipe' })
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
