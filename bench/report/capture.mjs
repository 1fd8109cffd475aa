/**
 * Hands over what a bench program prints, without a change of what it prints: loaded before it (`node --import`), this writes
 * each table that goes to the console, with the line before it, as JSON into the file that `OWNER_SSO_BENCH_FIGURES` names.
 */
import { writeFileSync } from 'node:fs'

const file = process.env.OWNER_SSO_BENCH_FIGURES

if (file !== undefined) {
  // Those that the program starts are no programs of the report.
  delete process.env.OWNER_SSO_BENCH_FIGURES
  const tables = []
  const { log, table } = console
  let title = ''
  console.log = (...words) => {
    title = words.join(' ').trim()
    log(...words)
  }
  console.table = (rows, ...others) => {
    // `console.table` prints by `console.log`, which is no title.
    console.log = log
    table(rows, ...others)
    tables.push({ title, rows: Array.isArray(rows) ? rows : Object.entries(rows).map(named) })
    writeFileSync(file, JSON.stringify(tables))
    title = ''
    console.log = (...words) => {
      title = words.join(' ').trim()
      log(...words)
    }
  }
}

function named([name, row]) {
  return { '': name, ...row }
}
