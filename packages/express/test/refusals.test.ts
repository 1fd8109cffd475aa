/** The proxy's own answers are those of docs/reference/errors.md, each with its status. */
import { readFileSync } from 'node:fs'
import { expect, it } from '@jest/globals'
import { rawAnswer } from '../src/answers/problem.ts'
import { refusal, type RefusalCode } from '../src/answers/refusal.ts'

const errors = readFileSync(new URL('../../../docs/reference/errors.md', import.meta.url), 'utf8')
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

it('over a bare socket it is a whole answer, and the last one there', () => {
  const answer = refusal('ERR_OWNER_API_MALFORMED_REQUEST')
  const body = JSON.stringify(answer.problem)
  expect(rawAnswer(answer).split('\r\n')).toEqual([
    `HTTP/1.1 400 ${answer.problem.title}`,
    'content-type: application/problem+json',
    `content-length: ${Buffer.byteLength(body)}`,
    'cache-control: no-store',
    'connection: close',
    '',
    body,
  ])
})
