import { beforeEach, describe, expect, it } from '@jest/globals'
import request from 'supertest'
import { useEmulator } from '../../src/jest.ts'

const identity = 'plain@example.com'
const emulator = useEmulator()
let token: string
beforeEach(async () => {
  token = (await emulator.issueTokens(identity)).access_token
})

const get = (path: string): request.Test =>
  request(emulator.ownerApiUrl).get(path).set('authorization', `Bearer ${token}`)

describe('the owner API', () => {
  it('lists the vehicles with their count, and shows one', async () => {
    const list = await get('/api/1/vehicles').expect(200)
    const { response, count }: { response: { id: number }[]; count: number } = list.body
    expect(response).toHaveLength(count)
    const one = await get(`/api/1/vehicles/${response[0]?.id}`).expect(200)
    expect(one.body).toEqual({ response: response[0] })
    await get('/api/1/vehicles/none').expect(404)
  })

  it('echoes a command', async () => {
    const path = '/api/1/vehicles/1001/command/honk_horn'
    const answer = await request(emulator.ownerApiUrl).post(path).set('authorization', `Bearer ${token}`).expect(200)
    expect(answer.body).toEqual({ response: { result: true, reason: '', command: 'honk_horn' } })
  })

  it('streams events, any number of bytes, and what it was sent', async () => {
    const events = await get('/api/1/stream?count=2').expect(200).expect('content-type', 'text/event-stream')
    expect(events.text.match(/^event: tick$/gmu)).toHaveLength(2)
    const bytes = await get('/api/1/bytes/1000000').buffer(true).responseType('blob').expect(200)
    expect(bytes.body).toHaveLength(1_000_000)
    await get('/api/1/bytes/-1').expect(400)
    const echo = await request(emulator.ownerApiUrl)
      .post('/api/1/echo')
      .set('authorization', `Bearer ${token}`)
      .set('content-type', 'text/plain')
      .send('as it came')
    expect([echo.text, echo.headers['content-type']]).toEqual(['as it came', 'text/plain'])
  })

  it.each([
    ['no token', ''],
    ['an unknown token', 'Bearer unknown'],
    ['another scheme', 'Basic dTpw'],
  ])('answers %s with 401 and WWW-Authenticate', async (_case, authorization) => {
    const answer = await request(emulator.ownerApiUrl).get('/api/1/vehicles').set('authorization', authorization)
    expect(answer.status).toBe(401)
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

  it('counts what it served and what it refused', async () => {
    const { ownerApiCalls, ownerApiRejections } = { ...emulator.counters }
    await get('/api/1/vehicles').expect(200)
    token = 'unknown'
    await get('/api/1/vehicles').expect(401)
    expect(emulator.counters).toMatchObject({
      ownerApiCalls: ownerApiCalls + 1,
      ownerApiRejections: ownerApiRejections + 1,
    })
  })
})
