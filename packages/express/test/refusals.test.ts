/** The proxy's own answers are those of docs/errors.md, each with its status. */
import { readFileSync } from 'node:fs'
import { expect, it } from '@jest/globals'
import { refusal, type RefusalCode } from '../src/answers/refusal.ts'

const errors = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8')
const source = readFileSync(new URL('../src/answers/refusal.ts', import.meta.url), 'utf8')
const rows = Array.from(errors.matchAll(/^\| `(ERR_OWNER_API_\w+)` +\| (\d{3}) /gmu), ([, code = '', status]) => ({
  code,
  status: Number(status),
}))

it.each(rows)('$code is $status', ({ code, status }) => {
  expect(refusal(code as RefusalCode).status).toBe(status)
})

it('every code has its row', () => {
  const codes = [...source.matchAll(/^ {2}\| '(\w+)'$/gmu)].map(([, code]) => code)
  expect(new Set(codes)).toEqual(new Set(rows.map(({ code }) => code)))
})
