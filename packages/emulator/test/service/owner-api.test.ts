import type { ChangeableOptions } from '../../src/index.ts'
import { Client, json } from '../client.ts'
import { beforeEach, describe, expect, it } from '@jest/globals'
import request from 'supertest'
import { useEmulator } from '../../src/jest.ts'
import { ownerApiAnswers } from '../../../../tests/support/recorded-answers.ts'

const identity = 'plain@example.com'
const unknown = ['invalid_token', 'The access token is unknown, expired or revoked'] as const
const emulator = useEmulator()
let token: string
beforeEach(async () => {
  token = (await emulator.issueTokens(identity)).access_token
})

const get = (path: string): request.Test =>
  request(emulator.ownerApiUrl).get(path).set('authorization', `Bearer ${token}`)

describe('the owner API', () => {
  it('lists the vehicles with their count, and shows one by the exact digits of its id', async () => {
    const daily = '"id":10000000000001001,"id_s":"10000000000001001","vehicle_id":1001,"vin":"EMULATED000000001"'
    const weekend = '"id":10000000000001003,"id_s":"10000000000001003","vehicle_id":1003,"vin":"EMULATED000000002"'
    const [first, second] = [
      `{${daily},"display_name":"Daily","state":"online","battery_level":76,"range_km":388}`,
      `{${weekend},"display_name":"Weekend","state":"asleep","battery_level":41,"range_km":203}`,
    ]
    const list = await get('/api/1/vehicles').expect(200)
    expect(list.text).toBe(`{"response":[${first},${second}],"count":2}`)
    // What newer clients ask instead.
    const products = await get('/api/1/products').expect(200)
    expect(products.text).toBe(list.text)
    const one = await get('/api/1/vehicles/10000000000001003').expect(200)
    expect(one.text).toBe(`{"response":${second}}`)
    await get(`/api/1/vehicles/${one.body.response.id}`).expect(404)
    const none = await get('/api/1/vehicles/none').expect(404)
    expect(none.body).toEqual({
      response: null,
      error: 'not_found',
      error_description: 'There is no such vehicle',
    })
  })

  it('echoes a command', async () => {
    const path = '/api/1/vehicles/10000000000001001/command/honk_horn'
    const answer = await request(emulator.ownerApiUrl).post(path).set('authorization', `Bearer ${token}`).expect(200)
    expect(answer.body).toEqual({ response: { result: true, reason: '', command: 'honk_horn' } })
  })

  it('streams events, any number of bytes, and what it was sent', async () => {
    const stream = (query: string): request.Test => get(`/api/1/stream${query}`).expect(200)
    const [events, unasked] = await Promise.all([stream('?count=2'), stream('')])
    expect(events.headers['content-type']).toBe('text/event-stream')
    const ticks = [1, 2, 3, 4, 5].map((id) => `id: ${id}\nevent: tick\ndata: {"tick":${id}}\n\n`)
    expect([events.text, unasked.text]).toEqual([ticks.slice(0, 2).join(''), ticks.join('')])
    const bytes = await get('/api/1/bytes/1000000').buffer(true).responseType('blob').expect(200)
    expect(bytes.headers['content-type']).toBe('application/octet-stream')
    expect(Buffer.alloc(1_000_000, 'x').equals(bytes.body)).toBe(true)
    const echo = await request(emulator.ownerApiUrl)
      .post('/api/1/echo')
      .set('authorization', `Bearer ${token}`)
      .set('content-type', 'text/plain')
      .send('as it came')
    expect([echo.status, echo.text, echo.headers['content-type']]).toEqual([200, 'as it came', 'text/plain'])
    for (const length of [1, 65_536, 65_537]) {
      const some = await get(`/api/1/bytes/${length}`).buffer(true).responseType('blob').expect(200)
      expect(Buffer.alloc(length, 'x').equals(some.body)).toBe(true)
    }
    const headers = { authorization: `Bearer ${token}` }
    const unnamed = await fetch(`${emulator.ownerApiUrl}/api/1/echo`, { method: 'POST', headers })
    expect([unnamed.headers.get('content-type'), await unnamed.text()]).toEqual(['application/octet-stream', ''])
  })

  it.each<[string, () => string, string, string]>([
    ['no token', () => '', 'missing_token', 'No access token was sent'],
    ['an unknown token', () => 'Bearer unknown', ...unknown],
    ['another scheme', () => 'Basic dTpw', 'missing_token', 'No access token was sent'],
    ['a scheme that ends like it', () => `XBearer ${token}`, 'missing_token', 'No access token was sent'],
    ['more than a token', () => `Bearer ${token} x`, 'missing_token', 'No access token was sent'],
    ['a token with more signs', () => `Bearer ${token}=`, ...unknown],
  ])('answers %s with 401 and WWW-Authenticate', async (_case, authorization, error, description) => {
    const answer = await request(emulator.ownerApiUrl).get('/api/1/vehicles').set('authorization', authorization())
    expect([answer.status, answer.body]).toEqual([401, { response: null, error, error_description: description }])
    expect(answer.headers['www-authenticate']).toBe('Bearer error="invalid_token"')
  })

  it('refuses a token after eight hours, and one that was revoked before', async () => {
    emulator.clock.advance(28_799)
    await get('/api/1/vehicles').expect(200)
    emulator.clock.advance(2)
    await get('/api/1/vehicles').expect(401)

    token = (await emulator.issueTokens(identity)).access_token
    expect(emulator.revokeAccessTokens(identity)).toBe(1)
    await get('/api/1/vehicles').expect(401)
    token = (await emulator.issueTokens(identity)).access_token
    await get('/api/1/vehicles').expect(200)
  })
})

it.each<[string, ChangeableOptions]>([
  ['403, GET /api/1/products', { refreshedTokens: { status: 403 } }],
  ['401, GET /api/1/products', { refreshedTokens: { status: 401 } }],
  ['412, GET /api/1/vehicles', { service: 'current' }],
])('the owner API refuses a token in words that people recorded: %s', async (what, options) => {
  emulator.change(options)
  const client = new Client(emulator)
  const { refresh_token } = await emulator.issueTokens(identity)
  const { access_token } = json(await client.refresh(refresh_token))
  const [status, path] = what.split(', GET ')
  const answer = await request(emulator.ownerApiUrl)
    .get(path ?? '')
    .set('authorization', `Bearer ${access_token}`)
  expect(answer.status).toBe(Number(status))
  expect(ownerApiAnswers.map(({ body }) => body)).toContain(answer.text)
})

it("today's owner API refuses an unknown token in words that people recorded", async () => {
  emulator.change({ service: 'current' })
  const answer = await request(emulator.ownerApiUrl).get('/api/1/products').set('authorization', 'Bearer unknown')
  expect(ownerApiAnswers.map(({ status, body }) => [status, body])).toContainEqual([answer.status, answer.text])
})
