import { afterAll, expect, it } from '@jest/globals'
import * as fc from 'fast-check'
import { Agent, request } from 'node:http'
import { once } from 'node:events'
import { runs } from '../../../tests/support/runs.ts'
import { useEmulator } from '../src/jest.ts'
import { Client, codeOf, demoCredential } from './client.ts'

const emulator = useEmulator({ firewall: false })
const agent = new Agent({ keepAlive: true })
afterAll(async () => {
  agent.destroy()
})

const names = [
  'client_id code_challenge code_challenge_method redirect_uri response_type scope state login_hint _csrf _phase',
  'transaction_id cancel identity credential captcha grant_type code code_verifier refresh_token factor_id passcode',
  'backup_code __proto__ constructor',
].flatMap((line) => line.split(' '))
const values = [
  'ownerapi',
  'S256',
  'code',
  'openid email offline_access',
  'authorization_code',
  'refresh_token',
  '',
  '1',
]

/** Stands wherever a secret may stand; no log may hold it. */
const canary = 'canary-5d1e'
const secretNames = 'credential code code_verifier refresh_token passcode backup_code captcha any _csrf transaction_id'

const name = fc.oneof(fc.constantFrom(...names), fc.string())
const value = fc.oneof(fc.constantFrom(...values), fc.string({ unit: 'grapheme' }))
const secret = fc.tuple(fc.constantFrom(...secretNames.split(' ')), fc.constant(`${canary}-x`))
const pair = fc.oneof({ weight: 4, arbitrary: fc.tuple(name, value) }, { weight: 1, arbitrary: secret })
const parameters = fc
  .tuple(fc.array(pair), fc.boolean())
  .map(([pairs, twice]) => new URLSearchParams(twice ? [...pairs, ...pairs] : pairs).toString())
const brokenEncoding = fc.stringMatching(/^(?:[a-z_=&;+]|%[0-9a-fg-z]{0,2}|%c0%ae|%00|%ff){0,30}$/u)
const paths = [
  '/oauth2/v3/authorize /oauth2/v3/token /oauth2/v3/authorize/mfa/factors /oauth2/v3/authorize/mfa/verify',
  '/oauth2/v3/authorize/mfa/backupcodes/attempt /authorize/mfa/verify /oauth2/v3/authorize/%00 /void/callback',
  '/api/1/vehicles/%zz /api/1/bytes/9e9 /api/1/echo /api/1/stream?count=-1 //authorize / /% /..%2f..%2fetc/passwd *',
].flatMap((line) => line.split(' '))
const path = fc.constantFrom(...paths)
const contentTypes = [
  ['application/json', 'application/x-www-form-urlencoded', 'application/json; charset=utf-16', ';'],
  ['text/plain; charset=nowhere', 'multipart/form-data', 'APPLICATION/JSON;;;'],
]
const contentType = fc.constantFrom(...contentTypes.flat())
const huge = fc.constantFrom(
  '['.repeat(60_000),
  `{"passcode":"${'9'.repeat(60_000)}"}`,
  'a=&'.repeat(20_000),
  `credential=${'%'.repeat(50_000)}`,
  'x'.repeat(70_000),
)
const body = fc.oneof(
  { weight: 3, arbitrary: parameters },
  { weight: 1, arbitrary: fc.json() },
  { weight: 3, arbitrary: fc.dictionary(name, fc.jsonValue()).map((fields) => JSON.stringify(fields)) },
  { weight: 1, arbitrary: fc.array(pair).map((pairs) => JSON.stringify(Object.fromEntries(pairs))) },
  { weight: 1, arbitrary: fc.string() },
  { weight: 1, arbitrary: brokenEncoding },
  { weight: 1, arbitrary: huge },
)
const oddHeaders = fc.constantFrom<Record<string, string | string[]>>(
  {},
  { cookie: `sso.sid=${canary}; sso.sid=${canary}-2` },
  { cookie: canary },
  { cookie: `;;=; ${canary}; a==${canary}; =${canary}` },
  { authorization: canary },
  { authorization: `Bearer\t${canary}` },
  { authorization: `Basic ${canary}`, 'proxy-authorization': canary },
  { referer: `http://x/?code=${canary}#${canary}` },
  { host: '', 'x-forwarded-host': '[::' },
  { host: 'localhost:99999' },
  { 'content-encoding': 'gzip' },
  { 'content-encoding': 'identity, br', expect: 'nothing' },
  { 'transfer-encoding': 'chunked' },
)

it('never answers 500, whatever it is sent, wherever, and logs no secret of it', async () => {
  const { refresh_token, access_token } = await emulator.issueTokens('plain@example.com')
  const client = new Client(emulator)
  await client.open()
  const cookie = [...client.cookies].map((entry) => entry.join('=')).join('; ')
  const property = fc.asyncProperty(
    fc.constantFrom(emulator.authUrl, emulator.regionalAuthUrl, emulator.ownerApiUrl),
    fc.constantFrom('GET', 'POST', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'),
    path,
    fc.oneof(parameters, brokenEncoding),
    contentType,
    body,
    fc.boolean(),
    oddHeaders,
    async (base, method, where, query, type, content, known, odd) => {
      const text = method === 'GET' ? '' : content.replaceAll('refresh_token=1', `refresh_token=${refresh_token}`)
      const headers = {
        'content-type': type,
        ...(!('transfer-encoding' in odd) && { 'content-length': String(Buffer.byteLength(text)) }),
        ...(known && { cookie, authorization: `Bearer ${access_token}` }),
        ...odd,
      }
      const { hostname, port } = new URL(base)
      const sent = request({ hostname, port, path: `${where}?${query}`, method, headers, agent, timeout: 5000 })
      sent.once('timeout', () => sent.destroy(new Error('no answer within 5 s')))
      sent.end(text)
      const [answer] = await once(sent, 'response')
      answer.resume()
      await once(answer, 'end')
      expect(answer.statusCode).toBeLessThan(500)
      expect(answer.headers['x-owner-sso-emulator']).toBe('1')
    },
  )
  await fc.assert(property, { numRuns: runs(300) })
  expect((await client.open()).page.status).toBe(200)
  expect(emulator.requests.length).toBeGreaterThan(200)
  expect(JSON.stringify(emulator.requests)).not.toContain(canary)
  const seen = await fetch(`${emulator.authUrl}/_emulator/exchanges`)
  expect(await seen.text()).not.toContain(canary)
}, 120_000)

it('never answers 500 to text that is not ASCII, or half a character', async () => {
  const texts = (length: number): string[] => ['é', '１', '٣', '\u{1f697}', '\ud83d'].map((sign) => sign.repeat(length))
  const failures: string[] = []
  const sent = async (field: string, answer: Promise<{ status: number }>): Promise<void> => {
    if ((await answer).status >= 500) failures.push(field)
  }
  for (const text of [1, 6, 9, 43, 86, 1000].flatMap(texts)) {
    const client = new Client(emulator)
    const { hidden } = await client.open({ login_hint: text, state: text })
    for (const field of ['identity', 'credential', '_csrf', '_phase', 'transaction_id', 'captcha'])
      await sent(
        field,
        client.post({ ...hidden, identity: 'plain@example.com', credential: demoCredential, [field]: text }),
      )
    const { answer } = await client.authorize('plain@example.com')
    for (const field of ['client_id', 'code', 'code_verifier', 'redirect_uri'])
      await sent(field, client.exchange(codeOf(answer), { [field]: text }))
    for (const field of ['refresh_token', 'scope', 'client_id'])
      await sent(field, client.refresh('x', { [field]: text }))
    for (const field of ['code_challenge', 'client_id', 'redirect_uri', 'scope'])
      await sent(
        field,
        client.open({ [field]: text }).then(({ page }) => page),
      )

    const account = emulator.account('mfa@example.com')
    const step = await client.reachPasscode(account.identity)
    for (const field of ['passcode', 'factor_id', '_csrf', 'transaction_id'])
      await sent(field, client.verify(step, account, { [field]: text }))
    const { transaction_id } = step
    await sent(
      'backup_code',
      client.json('/oauth2/v3/authorize/mfa/backupcodes/attempt', { transaction_id, backup_code: text }),
    )
    await sent('factors', client.factors(new URLSearchParams({ x: text }).toString().slice(2)))
  }
  expect(failures).toEqual([])
}, 120_000)
