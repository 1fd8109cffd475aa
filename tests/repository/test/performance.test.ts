/** The report of the benchmarks: what is drawn is what was measured, and every program is in it. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from '@jest/globals'
import { drawn } from '../../../bench/report/draw.mjs'
import { programs } from '../../../bench/report/programs.mjs'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const text = (path: string): string => readFileSync(join(root, path), 'utf8')
const results = JSON.parse(text('bench/results.json'))

describe('docs/reference/performance.md', () => {
  const files = drawn(results)

  it.each(Object.keys(files))('%s is exactly what bench/results.json draws', (path) => {
    expect(text(path)).toBe(files[path])
  })

  it('has no chart that nothing draws', () => {
    const charts = readdirSync(join(root, 'docs/reference/performance')).map(
      (name) => `docs/reference/performance/${name}`,
    )
    expect(charts.toSorted()).toEqual(
      Object.keys(files)
        .filter((path) => path.endsWith('.svg'))
        .toSorted(),
    )
  })

  it('is of every program in bench/', () => {
    const names = readdirSync(join(root, 'bench')).filter((name) => /^(?!.*-server).*\.mjs$/u.test(name))
    expect(programs.map(({ name }) => `${name}.mjs`).toSorted()).toEqual(names.toSorted())
  })
})

describe('a chart', () => {
  it('shows us, the peer, the floor and our budget, and no markup of a name', () => {
    const rows = [
      { '': 'bare <node>', ratio: 1, budget: '' },
      { '': '--help', ratio: 1.2, budget: 1.4 },
      { '': 'without a figure', ratio: '' },
    ]
    const command = 'node bench/cli-start.mjs 3'
    const files = drawn({
      'cli-start': { command, at: '2026-01-01', node: '24.0.0', cores: 2, load: 0.1, tables: [{ title: '', rows }] },
    })
    const svg = files['docs/reference/performance/cli-start-1.svg'] ?? ''
    expect(svg.match(/<rect class="\w+"/gu)).toEqual(['<rect class="peer"', '<rect class="ours"'])
    expect(svg.match(/<line class="\w+"/gu)).toEqual(['<line class="budget"', '<line class="floor"'])
    expect(svg).toContain('bare &lt;node>')
    expect(svg).toContain('prefers-color-scheme: dark')
    expect(files['docs/reference/performance.md']).toContain('`node bench/cli-start.mjs 3`, 2026-01-01')
  })
})

it('a program hands over its tables, and prints what it prints without that', () => {
  const folder = mkdtempSync(join(tmpdir(), 'owner-sso-figures-'))
  try {
    const program = join(folder, 'program.mjs')
    writeFileSync(
      program,
      "console.log('a title')\nconsole.table({ one: { ratio: 1 } })\nconsole.table([{ ratio: 2 }])\n",
    )
    const file = join(folder, 'figures.json')
    const run = (...before: string[]): string =>
      spawnSync(process.execPath, [...before, program], {
        encoding: 'utf8',
        env: { ...process.env, OWNER_SSO_BENCH_FIGURES: file },
      }).stdout
    const captured = run('--import', join(root, 'bench/report/capture.mjs'))
    expect(captured).toBe(run())
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual([
      { title: 'a title', rows: [{ '': 'one', ratio: 1 }] },
      { title: '', rows: [{ ratio: 2 }] },
    ])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
