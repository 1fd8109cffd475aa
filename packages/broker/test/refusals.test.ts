/** The broker's own answers are those of docs/reference/errors.md, each with its status. */
import { readFileSync } from 'node:fs'
import { expect, it } from '@jest/globals'
import { type BrokerRefusalCode, refusal, RefusedCall, refusals } from '../src/http/refusal.ts'

const errors = readFileSync(new URL('../../../docs/reference/errors.md', import.meta.url), 'utf8')
const documented = [...errors.matchAll(/^\| `(ERR_BROKER_\w+)` +\| (\d{3}) /gmu)].map(([, code, status]) => [
  code,
  Number(status),
])

it('are documented, each with its status', () => {
  expect(Object.entries(refusals).map(([code, [status]]) => [code, status])).toEqual(documented)
})

it('say nothing but their sentence', () => {
  expect(refusal('ERR_BROKER_SCOPE')).toEqual({
    status: 403,
    headers: {},
    problem: {
      title: 'Forbidden',
      status: 403,
      detail: 'This client was not invited for that.',
      code: 'ERR_BROKER_SCOPE',
    },
  })
})

it('each have the status, the headers and the sentence that the last release had: a change is one for users', () => {
  const answers = Object.keys(refusals).map((code) => refusal(code as BrokerRefusalCode))
  expect(answers).toMatchSnapshot()
  const more = { 'retry-after': '7', 'x-more': '1' }
  expect(refusal('ERR_BROKER_CLIENTS', more).headers).toEqual(more)
})

it('end a call with their code, their sentence, and the headers that were given', () => {
  const refused = new RefusedCall('ERR_BROKER_SCOPE', { 'retry-after': '1' })
  const { name, message, code, headers } = refused
  expect({ name, message, code, headers }).toEqual({
    name: 'RefusedCall',
    message: 'This client was not invited for that.',
    code: 'ERR_BROKER_SCOPE',
    headers: { 'retry-after': '1' },
  })
  expect(new RefusedCall('ERR_BROKER_SCOPE').headers).toEqual({})
})
