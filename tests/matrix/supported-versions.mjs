/** The document's table of what the packages run with: it contains only what a row of the matrix has run. */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const document = fileURLToPath(new URL('../../docs/reference/supported-versions.md', import.meta.url))
const between = /(<!-- written by npm run matrix -->\n)[\s\S]*?(<!-- end -->)/u

/** What a bare version stands for, where it is not obvious. */
const remarks = {
  'Node.js': '`import` and `require()`; 20, 22, 24 and 26 stand for the newest release of that line',
  '@types/express': 'the version that your application has',
  'Other runtimes': '`ownerApiProxy` runs on Deno; on Bun it throws at construction',
  Bundlers: 'a bundle signs in from an empty folder',
}

/** The table, of the rows that passed. */
export function tableOf(results) {
  const covered = new Map()
  for (const { outcome, covers } of results) {
    for (const [subject, version] of outcome === 'ok' ? Object.entries(covers) : []) {
      covered.set(subject, new Set([...(covered.get(subject) ?? []), version]))
    }
  }
  const cells = [
    ['', 'what is run', ''],
    ...[...covered].map(([subject, versions]) => [subject, [...versions].join(', '), remarks[subject] ?? '']),
  ]
  const widths = [0, 1, 2].map((column) => Math.max(3, ...cells.map((row) => row[column].length)))
  const line = (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`
  const [head, ...rows] = cells.map(line)
  return [head, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows, ''].join('\n')
}

/** The table as the document has it. */
export function tableInDocument() {
  return between.exec(readFileSync(document, 'utf8'))?.[0] ?? ''
}

export function writeTable(results) {
  const text = readFileSync(document, 'utf8')
  writeFileSync(
    document,
    text.replace(between, (_all, before, after) => `${before}\n${tableOf(results)}\n${after}`),
  )
}
