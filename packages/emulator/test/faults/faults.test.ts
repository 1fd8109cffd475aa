import { beforeEach, describe, expect, it, jest } from '@jest/globals'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Endpoint, Fault } from '../../src/index.ts'
import { useEmulator } from '../../src/jest.ts'
import { Client, json } from '../client.ts'

const identity = 'plain@example.com'
const emulator = useEmulator()
let client: Client
let token: string
beforeEach(async () => {
  client = new Client(emulator)
  token = (await emulator.issueTokens(identity)).refresh_token
})

/** All bytes of the answer to a refresh, until the connection is over. */
async function rawRefresh(limit = Infinity): Promise<string> {
  const body = JSON.stringify({
    grant_type: 'refresh_token',
    client_id: 'ownerapi',
    refresh_token: token,
    scope: 'openid email offline_access',
  })
  const socket = connect(Number(new URL(emulator.authUrl).port), '127.0.0.1')
  const lines = ['POST /oauth2/v3/token HTTP/1.1', 'Host: 127.0.0.1', 'Content-Type: application/json']
  socket.write([...lines, `Content-Length: ${Buffer.byteLength(body)}`, '', body].join('\r\n'))
  let bytes = ''
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.toString()
    if (bytes.length > limit) socket.destroy()
  })
  await once(socket, 'close')
  return bytes
}

describe('once and always', () => {
  it('apply to the next request, to several in a row, or to all until it is called off', async () => {
    emulator.always('refresh', { status: 503 })
    emulator.once('refresh', { status: 500 })
    emulator.once('refresh', { status: 502 })
    const statuses: number[] = []
    for (let round = 0; round < 4; round += 1) statuses.push((await client.refresh(token)).status)
    emulator.always('refresh', undefined)
    statuses.push((await client.refresh(token)).status)
    expect(statuses).toEqual([500, 502, 503, 503, 200])
    expect(emulator.counters).toMatchObject({ refreshRequests: 1, tokenRefreshes: 1, replays: 0 })
  })

  it('tell a refresh and a code exchange apart', async () => {
    emulator.once('token', { status: 503 })
    expect((await client.refresh(token)).status).toBe(200)
    expect((await client.exchange('x')).status).toBe(503)
  })

  it.each<[Endpoint, () => Promise<{ status: number }>]>([
    ['login-page', async () => (await client.open()).page],
    ['form-submission', () => client.post({})],
    ['mfa-factors', () => client.send('/oauth2/v3/authorize/mfa/factors')],
    ['mfa-verify', () => client.json('/oauth2/v3/authorize/mfa/verify', {})],
    ['mfa-backup-code', () => client.json('/oauth2/v3/authorize/mfa/backupcodes/attempt', {})],
    ['owner-api', () => fetch(`${emulator.ownerApiUrl}/api/1/vehicles`)],
  ])('work at %s', async (endpoint, send) => {
    emulator.once(endpoint, { status: 418 })
    expect((await send()).status).toBe(418)
    expect((await send()).status).not.toBe(418)
  })

  it('queue ten thousand faults at most: more are a mistake', () => {
    for (let count = 0; count < 10_000; count += 1) emulator.once('token', { status: 503 })
    expect(() => emulator.once('token', { status: 503 })).toThrow('Too many faults wait at token')
  })
})

describe('a fault', () => {
  /** As JavaScript orders it: with anything. */
  const order = (fault: unknown): unknown => Reflect.apply(emulator.once, undefined, ['captcha', fault])

  it.each<[object]>([
    [{}],
    [{ delay: 0.5, status: 200, bodyLength: 0 }],
    [{ status: 599, bodyLength: 1024 ** 3 }],
    [{ headers: { a: 'x', b: ['x', 'y'] }, body: null }],
    [{ hold: Promise.resolve(), commit: 'before', drop: 'mid-body', firewall: 'script' }],
  ])('may be %j', (fault) => {
    expect(() => order(fault)).not.toThrow()
  })

  it.each<[string, unknown]>([
    ['delay', -1],
    ['hold', {}],
    ['commit', 'never'],
    ['drop', 'now'],
    ['status', 199],
    ['status', 600],
    ['status', '200'],
    ['headers', { a: 1 }],
    ['headers', ['a']],
    ['firewall', 'yes'],
    ['bodyLength', -1],
    ['bodyLength', 1024 ** 3 + 1],
    ['sleep', 1],
  ])('can’t have %s: %j', (name, value) => {
    expect(() => order({ [name]: value })).toThrow(TypeError)
    expect(() => order({ [name]: value })).toThrow(`ield ${name}`)
  })
})

describe('an answer in place', () => {
  it('can be sent before the token is spent, or after', async () => {
    emulator.once('refresh', { status: 500, body: { error: 'server_error' } })
    expect(json(await client.refresh(token))).toEqual({ error: 'server_error' })
    expect(emulator.counters.tokenRefreshes).toBe(0)

    emulator.once('refresh', {
      status: 502,
      body: '<h1>Bad gateway</h1>',
      headers: { 'content-type': 'text/html' },
      commit: 'after',
    })
    const answer = await client.refresh(token)
    expect([answer.status, answer.text, answer.headers.get('content-type')]).toEqual([
      502,
      '<h1>Bad gateway</h1>',
      'text/html',
    ])
    expect(emulator.counters.tokenRefreshes).toBe(1)
    expect((await client.refresh(token)).status).toBe(400)
  })

  it('can be the challenge page, with any status, or the one that only runs a script', async () => {
    emulator.once('refresh', { firewall: true, status: 429, headers: { 'retry-after': '120' } })
    const page = await client.refresh(token)
    expect([page.status, page.headers.get('retry-after'), page.headers.get('content-type')]).toEqual([
      429,
      '120',
      'text/html; charset=utf-8',
    ])
    expect(page.text).toContain('Access Denied')
    emulator.once('refresh', { firewall: 'script' })
    const script = await client.refresh(token)
    expect(script.status).toBe(403)
    expect(script.text).toMatch(/<script src=/u)
    expect(script.text).not.toMatch(/<title/iu)
    expect(emulator.counters.challenges).toBe(2)
  })
})

it('an answer in place has status 200 unless told otherwise', async () => {
  emulator.once('refresh', { body: { a: 1 } })
  emulator.once('refresh', { body: 'text' })
  const answers = [await client.refresh(token), await client.refresh(token)]
  expect(answers.map(({ status, text }) => [status, text])).toEqual([
    [200, '{"a":1}'],
    [200, 'text'],
  ])
})

describe('a cut connection', () => {
  it.each<[NonNullable<Fault['drop']>, number]>([
    ['before-commit', 0],
    ['after-commit', 1],
    ['mid-body', 1],
    ['after-body', 1],
  ])('%s leaves %i token spent', async (drop, spent) => {
    emulator.once('refresh', { drop })
    const bytes = await rawRefresh()
    const [head = '', body = ''] = bytes.split('\r\n\r\n')
    const length = Number(/content-length: (\d+)/u.exec(head)?.[1] ?? 0)
    expect(emulator.counters.tokenRefreshes).toBe(spent)
    expect({
      began: bytes.startsWith('HTTP/1.1 200'),
      headers: bytes.includes('\r\n\r\n'),
      whole: length > 0 && body.length === length,
    }).toEqual({
      began: ['mid-body', 'after-body'].includes(drop),
      headers: ['mid-body', 'after-body'].includes(drop),
      whole: drop === 'after-body',
    })
  })
})

describe('a slow answer', () => {
  it.each([
    ['before', 0],
    ['after', 1],
  ] as const)('waits for a promise %s the token is spent', async (commit, spent) => {
    let release: (() => void) | undefined
    const hold = new Promise<void>((resolve) => {
      release = resolve
    })
    const waits = jest.spyOn(hold, 'catch')
    emulator.once('refresh', { hold, commit })
    const answer = client.refresh(token)
    await bodyArrived()
    expect(emulator.counters.tokenRefreshes).toBe(spent)
    expect(emulator.requests[0]?.status).toBeUndefined()
    release?.()
    expect((await answer).status).toBe(200)
    expect(waits).toHaveBeenCalledTimes(1)
    expect(emulator.counters.tokenRefreshes).toBe(1)
  })

  it('waits so many milliseconds', async () => {
    emulator.once('refresh', { delay: 120 })
    const started = performance.now()
    await client.refresh(token)
    expect(performance.now() - started).toBeGreaterThanOrEqual(119)
  })
})

it('an answer in place that HTTP can’t carry is a 500 that says so, and nothing breaks', async () => {
  emulator.once('token', { status: 200, headers: { 'x-broken': 'a\nb' } })
  const answer = await client.exchange('x')
  expect([answer.status, answer.text.includes('The request is not valid.')]).toEqual([500, true])
  expect((await client.exchange('x')).status).toBe(400)
})

/** The first request's body was read, and what follows from that has happened. */
async function bodyArrived(): Promise<void> {
  while (emulator.requests[0]?.body['grant_type'] === undefined) await new Promise(setImmediate)
  for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate)
}
