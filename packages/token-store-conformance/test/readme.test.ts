/** The README's store, written as somebody else would, under another runner than ours. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
// Below this package, so that it finds itself by its name.
const folder = fileURLToPath(new URL('../test-artefacts/readme/', import.meta.url))

/** Writes the code blocks of the README that name a file, and runs the test among them with `node:test`. */
async function runPasted(change: (store: string) => string): Promise<string> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const [, name = '', code = ''] of readme.matchAll(/<!-- runs: (\S+) -->\s+```js\n([\s\S]*?)```/gu)) {
    writeFileSync(`${folder}${name}`, name === 'store.js' ? change(code) : code)
  }
  const { NODE_TEST_CONTEXT: _context, ...env } = process.env
  const child = spawn(process.execPath, ['--test', '--test-reporter=tap', 'store.test.js'], { cwd: folder, env })
  let printed = ''
  child.stdout.on('data', (chunk) => (printed += String(chunk)))
  await once(child, 'close')
  return printed
}

test('the store of the README passes, under node:test', async () => {
  expect(await runPasted((store) => store)).toMatch(/# pass 22\n# fail 0\n/u)
})

test('it would fail without its check of the expected write id', async () => {
  const printed = await runPasted((store) =>
    store.replace('(options?.expectedWriteId ?? row?.writeId)', 'row?.writeId'),
  )
  expect(printed).toMatch(/not ok \d+ - returns a conflict where another write is stored/u)
})

test('it would fail without write ids', async () => {
  const printed = await runPasted((store) => store.replace('row?.writeId === writeId', 'false'))
  expect(printed).toMatch(/not ok \d+ - returns for a repeat of the newest write/u)
})
