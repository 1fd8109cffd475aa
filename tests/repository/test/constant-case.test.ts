/** The lint step that keeps constants in one case. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from '@jest/globals'

const script = fileURLToPath(new URL('../../../tools/lint/constant-case.mjs', import.meta.url))

it.each([
  ['const longestWait = 60', 0],
  ['const Parser = parserOf()', 0],
  ['export const LONGEST_WAIT = 60', 1],
  ['const LIMIT: number = 60', 1],
])('%s ends with %i', (source, status) => {
  const tree = mkdtempSync(join(tmpdir(), 'constants-'))
  try {
    mkdirSync(join(tree, 'packages/core/src'), { recursive: true })
    writeFileSync(join(tree, 'packages/core/src/index.ts'), `${source}\n`)
    const told = spawnSync(process.execPath, [script, tree], { encoding: 'utf8' })
    expect([told.status, told.stderr.includes('packages/core/src/index.ts')]).toEqual([status, status === 1])
  } finally {
    rmSync(tree, { recursive: true, force: true })
  }
})
