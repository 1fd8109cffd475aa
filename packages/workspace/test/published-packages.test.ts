import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from '@jest/globals'

const packages = new URL('../../', import.meta.url)
const published = readdirSync(packages)
  .map((folder) => ({ folder, ...manifestOf(folder) }))
  .filter((manifest) => !manifest.private)
  .map(({ folder, name, exports }) => ({ folder, name, entries: entriesOf(name, exports) }))
  // A command alone has nothing to import.
  .filter(({ entries }) => entries.length > 0)

describe.each(published)('$name', ({ folder, entries }) => {
  it.each(entries)('gives the same names to require() and to import(): %s', async (entry) => {
    const required = await namesFrom(folder, `Object.keys(require('${entry}'))`)
    const imported = await namesFrom(folder, `Object.keys(await import('${entry}'))`)
    expect(required.length).toBeGreaterThan(0)
    expect(required.filter((key) => key !== '__esModule')).toEqual(imported)
  })
})

function manifestOf(folder: string): { name: string; private?: boolean; exports: Record<string, unknown> } {
  return JSON.parse(readFileSync(new URL(`${folder}/package.json`, packages), 'utf8'))
}

/** What the package can be imported as: its name, and its name with a path behind. */
function entriesOf(name: string, exports: Record<string, unknown>): string[] {
  return Object.keys(exports)
    .filter((entry) => entry !== './package.json')
    .map((entry) => name + entry.slice(1))
}

/** A fresh Node inside the package, which may name itself. */
async function namesFrom(folder: string, expression: string): Promise<string[]> {
  const program = `(async () => console.log(JSON.stringify(${expression})))()`
  const cwd = fileURLToPath(new URL(folder, packages))
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--no-warnings', '--input-type=commonjs', '-e', program],
    { cwd },
  )
  return JSON.parse(stdout)
}
