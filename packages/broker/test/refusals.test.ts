/** The broker's own answers are those of docs/reference/errors.md, each with its status. */
import { readFileSync } from 'node:fs'
import { expect, it } from '@jest/globals'
import { refusals } from '../src/http/refusal.ts'

const errors = readFileSync(new URL('../../../docs/reference/errors.md', import.meta.url), 'utf8')
const documented = [...errors.matchAll(/^\| `(ERR_BROKER_\w+)` +\| (\d{3}) /gmu)].map(([, code, status]) => [
  code,
  Number(status),
])

it('are documented, each with its status', () => {
  expect(Object.entries(refusals).map(([code, [status]]) => [code, status])).toEqual(documented)
})
