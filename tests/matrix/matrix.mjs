/**
 * `npm run matrix`: the packed packages in empty projects, one row after the other. Writes `result.json`, and the table of
 * supported versions into `docs/reference/supported-versions.md`.
 *
 * `npm run matrix -- WORDS` runs the rows alone whose title has these words, and writes nothing.
 */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { openWorkshop } from './project.mjs'
import { runRows } from './run-rows.mjs'
import { writeTable } from './supported-versions.mjs'

const wanted = process.argv.slice(2).join(' ').toLowerCase()
const workshop = openWorkshop()
try {
  const results = await runRows(workshop, (title) => title.toLowerCase().includes(wanted))
  const failed = results.filter(({ outcome }) => outcome !== 'ok')
  console.log(`${results.length - failed.length} passed, ${failed.length} failed, 0 skipped`)
  process.exitCode = failed.length > 0 || results.length === 0 ? 1 : 0
  if (wanted === '') {
    const plain = results.map(({ error: _error, ...result }) => result)
    writeFileSync(fileURLToPath(new URL('result.json', import.meta.url)), `${JSON.stringify(plain, null, 2)}\n`)
    if (failed.length === 0) writeTable(plain)
  }
} finally {
  workshop.remove()
}
