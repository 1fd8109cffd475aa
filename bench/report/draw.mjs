/**
 * The report as files: `docs/reference/performance.md` and its charts, out of nothing but the figures in `bench/results.json`.
 */
import { capacity } from './capacity.mjs'
import { chart, curve } from './chart.mjs'
import { programs } from './programs.mjs'

/**
 * @param {Record<string, object>} results - the figures of each program, by its name
 * @returns {Record<string, string>} what belongs into each file, by its path in the repository
 */
export function drawn(results) {
  const files = {}
  const sections = programs.flatMap((program) => {
    const result = results[program.name]
    return result === undefined ? [] : [section(program, result, files)]
  })
  return {
    ...files,
    'docs/reference/performance.md': `${[introduction, ...sections, capacity(results)].join('\n\n')}\n`,
  }
}

const introduction = `# Performance

Our code beside its peers and beside a floor: the least that the same work can cost. All candidates of a chart are measured
in one run, so **compare ratios**: times depend on the machine. \`npm run bench\` draws this page. All figures are in
[bench/results.json](../../bench/results.json).`

function section(program, { command, at, node, cores, load, tables }, files) {
  const parts = tables.flatMap(({ title, rows }, index) => {
    const bars = program.isCurve ? rows : barsOf(program, rows)
    const path = `docs/reference/performance/${program.name}-${index + 1}.svg`
    const heading = [program.heading, title].filter(Boolean).join(': ')
    if (bars.length === 0) return [...(title === '' ? [] : [`**${title}**`]), table(rows)]
    files[path] = program.isCurve ? curve(title, rows) : chart(heading, bars, program.floor)
    return [`![${title || program.heading}](performance/${program.name}-${index + 1}.svg)`]
  })
  const made = `\`${command}\`, ${at}, Node ${node}, ${cores} cores, load ${load}.`
  return [`## ${program.heading}`, program.text, ...parts, made].join('\n\n')
}

function barsOf({ value, budget, ours }, rows) {
  return rows
    .filter((row) => row[value] !== '' && Number.isFinite(Number(row[value])))
    .map((row) => {
      const name = nameOf(row)
      const limit = typeof budget === 'function' ? budget(name) : typeof budget === 'string' ? row[budget] : budget
      const isOurs = ours.test(name)
      const most = isOurs && typeof limit === 'number' ? { budget: limit } : {}
      return { name, value: Number(row[value]), ours: isOurs, ...most }
    })
}

/** What a row is called: its key, or its own columns of words. */
function nameOf(row) {
  if ('' in row) return row['']
  const { candidate, accounts } = row
  return accounts === undefined ? candidate : `${candidate}, ${accounts} ${accounts === 1 ? 'account' : 'accounts'}`
}

/** As oxfmt has it. @param rows - the cells of each, by the names of their columns */
export function table(rows) {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const cells = [
    columns,
    ...rows.map((row) => columns.map((column) => String(row[column] ?? '').replaceAll('|', '\\|'))),
  ]
  const widths = columns.map((_column, index) => Math.max(3, ...cells.map((line) => line[index].length)))
  const lines = cells.map((line) => `| ${line.map((cell, index) => cell.padEnd(widths[index])).join(' | ')} |`)
  return [lines[0], `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...lines.slice(1)].join('\n')
}
