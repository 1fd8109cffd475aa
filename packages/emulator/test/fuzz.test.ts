import { afterAll, expect, it } from '@jest/globals'
import * as fc from 'fast-check'
import { Agent, request } from 'node:http'
import { once } from 'node:events'
import { useEmulator } from '../src/jest.ts'
import { Client } from './client.ts'

const emulator = useEmulator({ firewall: false })
const agent = new Agent({ keepAlive: true })
afterAll(async () => {
  agent.destroy()
})

const NAMES = [
  ['client_id', 'code_challenge', 'code_challenge_method', 'redirect_uri', 'response_type', 'scope', 'state'],
  ['login_hint', '_csrf', '_phase', 'transaction_id', 'cancel', 'identity', 'credential', 'captcha', 'grant_type'],
  ['code', 'code_verifier', 'refresh_token', 'factor_id', 'passcode', 'backup_code', '__proto__', 'constructor'],
].flat()
const VALUES = [
  'ownerapi',
  'S256',
  'code',
  'openid email offline_access',
  'authorization_code',
  'refresh_token',
  '',
  '1',
]

const name = fc.oneof(fc.constantFrom(...NAMES), fc.string())
const value = fc.oneof(fc.constantFrom(...VALUES), fc.string({ unit: 'grapheme' }))
const parameters = fc.array(fc.tuple(name, value)).map((pairs) => new URLSearchParams(pairs).toString())
const path = fc.constantFrom(
  '/oauth2/v3/authorize',
  '/oauth2/v3/token',
  '/oauth2/v3/authorize/mfa/factors',
  '/oauth2/v3/authorize/mfa/verify',
  '/oauth2/v3/authorize/mfa/backupcodes/attempt',
  '/void/callback',
  '/api/1/vehicles/%zz',
  '/api/1/bytes/9e9',
  '//authorize',
)
const contentType = fc.constantFrom(
  'application/json',
  'application/x-www-form-urlencoded',
  'application/json; charset=utf-16',
  'text/plain; charset=nowhere',
  'multipart/form-data',
  ';',
)
const body = fc.oneof(
  parameters,
  fc.json(),
  fc.dictionary(name, fc.jsonValue()).map((fields) => JSON.stringify(fields)),
  fc.string(),
)

it('never answers 500, whatever it is sent, wherever', async () => {
  const { refresh_token, access_token } = await emulator.issueTokens('plain@example.com')
  const client = new Client(emulator)
  await client.open()
  const cookie = [...client.cookies].map((pair) => pair.join('=')).join('; ')
  const property = fc.asyncProperty(
    fc.constantFrom(emulator.authUrl, emulator.regionalAuthUrl, emulator.ownerApiUrl),
    fc.constantFrom('GET', 'POST', 'HEAD', 'PUT', 'DELETE'),
    path,
    parameters,
    contentType,
    body,
    fc.boolean(),
    fc.constantFrom('', 'gzip', 'identity'),
    async (base, method, where, query, type, content, known, encoding) => {
      const headers = {
        'content-type': type,
        ...(encoding && { 'content-encoding': encoding }),
        ...(known && { cookie, authorization: `Bearer ${access_token}` }),
      }
      const text = content.replaceAll('refresh_token=1', `refresh_token=${refresh_token}`)
      const sent = request(`${base}${where}?${query}`, { method, headers, agent }).end(method === 'GET' ? '' : text)
      const [answer] = await once(sent, 'response')
      answer.resume()
      await once(answer, 'end')
      expect(answer.statusCode).toBeLessThan(500)
      expect(answer.headers['x-owner-sso-emulator']).toBe('1')
    },
  )
  await fc.assert(property, { numRuns: 800 })
  expect((await client.open()).page.status).toBe(200)
}, 120_000)
