/** What the repository promises of its workflows: every Node that is claimed, nothing skipped, provenance, and who may do what. */
import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { parse } from 'yaml'

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, unknown>>
}
interface Job {
  readonly uses?: string
  readonly needs?: string | readonly string[]
  readonly permissions?: Readonly<Record<string, string>>
  readonly steps?: readonly Step[]
}
interface Workflow {
  readonly permissions: Readonly<Record<string, string>>
  readonly jobs: Readonly<Record<string, Job>>
}

const github = new URL('../../../.github/', import.meta.url)
const textOf = (path: string): string => readFileSync(fileURLToPath(new URL(path, github)), 'utf8')
const workflow = (name: string): Workflow => parse(textOf(`workflows/${name}.yml`))
const files = readdirSync(fileURLToPath(new URL('workflows/', github)))

const jobsOfAll = files.flatMap((file) => {
  const { permissions, jobs } = workflow(file.replace('.yml', ''))
  return Object.entries(jobs).map(([name, job]) => ({
    name: `${file}: ${name}`,
    ...job,
    permissions: job.permissions ?? permissions,
  }))
})

it('CI runs what a fresh clone runs, on each Node that is claimed, as root on Debian, so that Redis and Chromium are there', () => {
  expect(workflow('ci')).toMatchObject({
    jobs: {
      test: {
        container: { image: 'node:${{ matrix.node }}-bookworm' },
        strategy: { matrix: { node: [20, 22, 24, 26] } },
        steps: expect.arrayContaining([{ run: '.ci/run' }]),
      },
    },
  })
})

it('a release comes after CI, by trusted publishing, with provenance and the site', () => {
  expect(workflow('release')).toMatchObject({
    jobs: {
      ci: { uses: './.github/workflows/ci.yml' },
      build: {
        needs: 'ci',
        steps: expect.arrayContaining([expect.objectContaining({ with: { path: 'tools/site/dist/site' } })]),
      },
      matrix: { needs: 'build', uses: './.github/workflows/matrix.yml' },
      publish: {
        needs: ['build', 'matrix'],
        permissions: { 'id-token': 'write' },
      },
      site: { needs: 'publish', permissions: { pages: 'write', 'id-token': 'write' } },
    },
  })
})

it('the matrix runs each night', () => {
  expect(workflow('matrix')).toMatchObject({
    on: { schedule: [{ cron: expect.any(String) }] },
    jobs: { matrix: { steps: expect.arrayContaining([{ run: 'npm run matrix' }]) } },
  })
})

it.each(files)('%s names every action by its commit, with the version behind it', (file) => {
  const uses = textOf(`workflows/${file}`).match(/uses: .*/gu) ?? []
  const others = uses.filter((line) => !line.startsWith('uses: ./'))
  expect(others.length).toBeGreaterThan(0)
  for (const line of others) expect(line).toMatch(/^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/u)
})

describe('who may do what', () => {
  it('nobody may more than read, unless a job says so', () => {
    for (const file of files) expect(workflow(file.replace('.yml', '')).permissions).toEqual({ contents: 'read' })
  })

  it('a job that may write or publish runs no code of the repository or of its dependencies', () => {
    const mighty = jobsOfAll.filter(({ permissions }) => Object.values(permissions).includes('write'))
    expect(mighty.map(({ name }) => name)).toEqual([
      'release.yml: versions',
      'release.yml: publish',
      'release.yml: tags',
      'release.yml: site',
    ])
    for (const { steps = [] } of mighty) {
      for (const { uses = '', run = '' } of steps) {
        expect(uses).toMatch(/^(?:actions\/(?:checkout|setup-node|download-artifact|deploy-pages)@|$)/u)
        expect(run).not.toMatch(
          /\b(?:install|ci|add|exec|npx|pnpm|node|yarn|corepack|turbo|changeset|bash|sh)\b|npm run|\.\/(?!\$tarball)/u,
        )
      }
    }
  })

  it('what publishes has no files of the repository, only what was packed', () => {
    const { steps = [], permissions } = workflow('release').jobs['publish']!
    expect(permissions).toEqual({ 'id-token': 'write' })
    expect(steps.map(({ uses = 'run' }) => uses.split('@')[0])).toEqual([
      'actions/setup-node',
      'actions/download-artifact',
      'run',
    ])
  })

  it('code of dependencies gets no credentials of git', () => {
    const { versions, ...others } = workflow('release').jobs
    expect(versions?.permissions).toEqual(expect.anything())
    const called = ['ci', 'matrix'].flatMap((name) => Object.values(workflow(name).jobs))
    const jobs = [...Object.values(others), ...called]
    const checkouts = jobs
      .flatMap(({ steps = [] }) => steps)
      .filter(({ uses }) => uses?.startsWith('actions/checkout@'))
    expect(checkouts).toHaveLength(3)
    for (const checkout of checkouts) expect(checkout.with).toMatchObject({ 'persist-credentials': false })
  })
})

describe('the step that publishes', () => {
  const { run = '' } = workflow('release').jobs['publish']!.steps!.at(-1)!
  let scratch = ''
  beforeEach(() => {
    scratch = mkdtempSync(join(tmpdir(), 'owner-sso-publish-'))
    mkdirSync(join(scratch, 'tarballs'))
    mkdirSync(join(scratch, 'package'))
    // jq is on GitHub's machines, and need not be here.
    program(
      'jq',
      `#!${process.execPath}\nconst { name, version } = JSON.parse(require('fs').readFileSync(0, 'utf8'))\nconsole.log(\`\${name}@\${version}\`)\n`,
    )
  })
  afterEach(() => rmSync(scratch, { recursive: true, force: true }))

  const program = (name: string, text: string): void => writeFileSync(join(scratch, name), text, { mode: 0o755 })

  function tarballs(...names: string[]): void {
    for (const name of names) {
      const manifest = { name: `@owner-sso/${name}`, version: '1.0.0' }
      writeFileSync(join(scratch, 'package/package.json'), JSON.stringify(manifest))
      execFileSync('tar', ['-czf', `tarballs/owner-sso-${name}-1.0.0.tgz`, 'package'], { cwd: scratch })
    }
  }

  const publish = (script: string, env: NodeJS.ProcessEnv = {}): Promise<unknown> =>
    promisify(execFile)('bash', ['-eo', 'pipefail', '-c', script], {
      cwd: scratch,
      env: { PATH: `${scratch}:${process.env['PATH']}`, HOME: scratch, ...env },
    })

  it('publishes what is not published yet, from its tarball and without its scripts', async () => {
    tarballs('old', 'new')
    program(
      'npm',
      '#!/bin/sh\ncase "$1 $2" in\n"view @owner-sso/old@1.0.0") echo 1.0.0;;\nview*) exit 1;;\n*) echo "$@" >> calls;;\nesac\n',
    )
    await publish(run)
    expect(readFileSync(join(scratch, 'calls'), 'utf8')).toBe(
      'publish ./tarballs/owner-sso-new-1.0.0.tgz --access public --provenance --ignore-scripts\n',
    )
  })

  // npm as it is, and a registry and an identity provider of GitHub's kind, both of this test.
  it.each([
    [
      'asks for an identity that signs the provenance, and publishes nothing without it',
      '',
      { signed: 1, published: 0 },
    ],
    [
      'would publish unsigned without --provenance: the flag is what counts',
      '--provenance',
      { signed: 0, published: 1 },
    ],
  ])('%s', async (_title, leftOut, expected) => {
    tarballs('new')
    const seen = { signed: 0, published: 0 }
    const server = createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://loopback')
      if (request.method === 'PUT') seen.published += 1
      if (searchParams.get('audience') === 'sigstore') seen.signed += 1
      response.statusCode = pathname === '/identity' ? 403 : request.method === 'PUT' ? 201 : 404
      request.resume().on('end', () => response.end('{}'))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    writeFileSync(join(scratch, '.npmrc'), `//${address.slice('http://'.length)}/:_authToken=of-this-test\n`)
    await publish(leftOut === '' ? run : run.replace(leftOut, ''), {
      npm_config_registry: address,
      CI: 'true',
      GITHUB_ACTIONS: 'true',
      ACTIONS_ID_TOKEN_REQUEST_URL: `${address}/identity?`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of-this-test',
    }).catch(() => undefined)
    server.close()
    expect(seen).toEqual(expected)
  })
})

it('Dependabot moves the actions and the dependencies', () => {
  expect(parse(textOf('dependabot.yml'))).toMatchObject({
    version: 2,
    updates: [
      { 'package-ecosystem': 'github-actions', directory: '/', schedule: { interval: 'weekly' } },
      { 'package-ecosystem': 'npm', directory: '/', schedule: { interval: 'weekly' } },
    ],
  })
})
