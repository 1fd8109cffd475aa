/** Whatever is sent to the control API and the inspector: an answer in time, never a 500, and an emulator that goes on. */
import { afterEach, expect, it } from '@jest/globals'
import * as fc from 'fast-check'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { runs } from '../../../../tests/support/runs.ts'
import { endpoints } from '../../src/faults/fault.ts'
import { optionNames } from '../../src/options/option-table.ts'
import { scenarios } from '../../src/index.ts'
import { useEmulator } from '../../src/jest.ts'
import { Client } from '../client.ts'

const emulator = useEmulator()
const agent = new Agent({ keepAlive: true })
afterEach(() => agent.destroy())

const leaf = fc.oneof(
  fc.constantFrom(0, 1, -1, 0.5, 1e21, 2 ** 53, -0, null, true, false),
  fc.constantFrom('refuse', 'page', 'home', 'lenient', 'none', 'document', '2026-01-01', '', 'NaN', '__proto__'),
  fc.string({ unit: 'grapheme' }),
)
const others =
  'locked captcha reset jump advance frozen lift block status body drop delay headers firewall maxRequests rename'
const names = fc.oneof(
  fc.constantFrom<string>(...optionNames, ...others.split(' '), 'extra', '__proto__', 'constructor', 'toString'),
  fc.string(),
)
const value = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(names, tie('any'), { maxKeys: 3 }),
  ),
})).any
const segment = fc.oneof(
  fc.constantFrom<string>(...endpoints, ...Object.keys(scenarios), 'plain@example.com', '1', '2', '0', '-1', 'NaN'),
  fc.constantFrom(
    '..',
    '%2e%2e',
    '%2e%2e%2fpackage.json',
    'index.html',
    '%',
    '%zz',
    '%00',
    '__proto__',
    'x'.repeat(5000),
  ),
  fc.string().map(encodeURIComponent),
)
const address = fc.oneof(
  fc.constantFrom('', '/', '/state', '/options', '/clock', '/firewall', '/reset', '/exchanges'),
  fc
    .tuple(fc.constantFrom('accounts', 'faults', 'scenarios', 'exchanges', 'assets', 'logins'), segment)
    .map((parts) => `/${parts.join('/')}`),
  segment.map((each) => `/accounts/${each}/access-tokens`),
)
const content = fc.oneof(
  { weight: 6, arbitrary: fc.dictionary(names, value, { maxKeys: 4 }).map((fields) => JSON.stringify(fields)) },
  { weight: 1, arbitrary: value.map((each) => JSON.stringify(each) ?? '') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', '{', '[[[', '{"a":', `{"a":"${'x'.repeat(70_000)}"}`, '['.repeat(20_000)),
  },
)
const headers = fc.constantFrom<Record<string, string>>(
  {},
  {},
  {},
  {},
  { origin: 'http://elsewhere.example' },
  { 'sec-fetch-site': 'cross-site' },
  { host: '' },
  { 'content-type': 'text/plain' },
  { 'content-encoding': 'gzip' },
)

it('answers whatever is sent to it, never with 500, and the service goes on', async () => {
  const { port } = new URL(emulator.authUrl)
  const property = fc.asyncProperty(
    fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'),
    address,
    content,
    headers,
    async (method, path, body, odd) => {
      const all = { 'content-type': 'application/json', ...odd }
      const sent = request({
        port,
        host: '127.0.0.1',
        path: `/_emulator${path}`,
        method,
        headers: all,
        agent,
        timeout: 5000,
      })
      sent.once('timeout', () => sent.destroy(new Error('no answer within 5 s')))
      sent.end(method === 'GET' ? '' : body)
      const [answer] = await once(sent, 'response')
      const said = await text(answer)
      expect([answer.statusCode < 500, said]).toEqual([true, said])
      expect(said).not.toMatch(/node_modules|\n\s+at /u)
    },
  )
  await fc.assert(property, { numRuns: runs(400) })
  emulator.reset()
  expect(await new Client(emulator).login('plain@example.com')).toMatchObject({ token_type: 'Bearer' })
  expect(emulator.requests).toHaveLength(3)
}, 120_000)
