/** What the repository promises of its workflows: every Node that is claimed, nothing skipped, provenance. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from '@jest/globals'
import { parse } from 'yaml'

const workflow = (name: string): unknown =>
  parse(readFileSync(fileURLToPath(new URL(`../../../.github/workflows/${name}.yml`, import.meta.url)), 'utf8'))

it('CI runs what a fresh clone runs, on each Node that is claimed, as root on Debian, so that Redis and Chromium are there', () => {
  expect(workflow('ci')).toMatchObject({
    jobs: {
      test: {
        container: { image: 'node:${{ matrix.node }}-bookworm' },
        strategy: { matrix: { node: [20, 22, 24] } },
        steps: expect.arrayContaining([{ run: '.ci/run' }]),
      },
    },
  })
})

it('a release comes after CI, by trusted publishing, with provenance and the API reference', () => {
  expect(workflow('release')).toMatchObject({
    jobs: {
      ci: { uses: './.github/workflows/ci.yml' },
      release: {
        needs: 'ci',
        permissions: { 'id-token': 'write' },
        steps: expect.arrayContaining([
          expect.objectContaining({ with: { name: 'api-reference', path: 'docs/api' } }),
          expect.objectContaining({ env: expect.objectContaining({ NPM_CONFIG_PROVENANCE: 'true' }) }),
        ]),
      },
    },
  })
})
