import { describe, expect, it } from '@jest/globals'
import { startEmulator, type EmulatedResponse, type TokenResponse } from '../../src/index.ts'
import { useEmulator } from '../../src/jest.ts'
import { Client, json } from '../client.ts'

const identity = 'plain@example.com'

describe('a function of once', () => {
  const emulator = useEmulator()

  it('changes fields of the parsed body, in one answer alone', async () => {
    const client = new Client(emulator)
    const { refresh_token } = await emulator.issueTokens(identity)
    emulator.change({ rotation: 'same' })
    emulator.once<{ expires_in: number }>('refresh', (answer) => {
      answer.body.expires_in = 5
    })
    expect(json(await client.refresh(refresh_token))).toMatchObject({ expires_in: 5, token_type: 'Bearer' })
    expect(json(await client.refresh(refresh_token))).toMatchObject({ expires_in: 300 })
  })

  it('gets the answer after the service has done its work', async () => {
    const client = new Client(emulator)
    const { refresh_token } = await emulator.issueTokens(identity)
    const seen: EmulatedResponse[] = []
    emulator.once('refresh', (answer) => void seen.push({ ...answer }))
    const answer = await client.refresh(refresh_token)
    expect(seen).toEqual([
      { status: 200, headers: { 'content-type': 'application/json; charset=utf-8' }, body: json(answer) },
    ])
    expect(emulator.counters.tokenRefreshes).toBe(1)
  })

  it('returns what the answer becomes; what it leaves out stays', async () => {
    const client = new Client(emulator)
    emulator.once('token', () => ({ status: 418 }))
    const teapot = await client.exchange('x')
    expect([teapot.status, json(teapot)['error']]).toEqual([418, 'invalid_grant'])

    emulator.once('token', async () => ({ body: { a: 1 }, headers: { 'x-more': ['1', '2'] } }))
    const other = await client.exchange('x')
    expect([other.status, other.text, other.headers.get('x-more')]).toEqual([400, '{"a":1}', '1, 2'])
    expect(other.headers.get('content-type')).toMatch(/^application\/json/u)
  })

  it('has a page as text, with its cookies', async () => {
    emulator.once<string>('login-page', (answer) => {
      expect(answer.headers['set-cookie']).toContainEqual(expect.stringMatching(/^sso\.sid=/u))
      answer.body = answer.body.replace('Sign in', 'Sign on')
    })
    const { page } = await new Client(emulator).open()
    expect([page.status, page.text.includes('Sign on')]).toEqual([200, true])
    expect(page.headers.getSetCookie()).toHaveLength(4)
  })

  it('can change streams of the owner API as well, and their length', async () => {
    const { access_token } = await emulator.issueTokens(identity)
    emulator.once<string>('owner-api', ({ body }) => ({ body: `${body}!` }))
    const headers = { authorization: `Bearer ${access_token}` }
    const answer = await fetch(`${emulator.ownerApiUrl}/api/1/bytes/5`, { headers })
    expect(await answer.text()).toBe('xxxxx!')
  })

  it('gets a body as text where only its content type says JSON', async () => {
    const { access_token } = await emulator.issueTokens(identity)
    emulator.once<string>('owner-api', ({ body }) => ({ body: `${body}!` }))
    const headers = { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' }
    const answer = await fetch(`${emulator.ownerApiUrl}/api/1/echo`, { method: 'POST', headers, body: '{' })
    expect(await answer.text()).toBe('{!')
  })

  it('has the long ids of vehicles as bigints, and sends and logs them to their last digit', async () => {
    const { access_token } = await emulator.issueTokens(identity)
    emulator.once<{ response: { id: bigint }[] }>('owner-api', ({ body }) => {
      const [first] = body.response
      if (first) first.id += 8n
    })
    const headers = { authorization: `Bearer ${access_token}` }
    const list = await (await fetch(`${emulator.ownerApiUrl}/api/1/vehicles`, { headers })).text()
    expect(list.match(/"id":\d+/gu)).toEqual(['"id":10000000000001009', '"id":10000000000001003'])
    const exchanges = await (await fetch(`${emulator.authUrl}/_emulator/exchanges`)).text()
    const last = exchanges
      .match(/"id":\d+/gu)
      ?.at(-1)
      ?.slice(5)
    const log = await (await fetch(`${emulator.authUrl}/_emulator/exchanges/${last}`)).text()
    expect(log).toMatch(/"10000000000001009".*"10000000000001003"/u)
  })

  it('applies until it is called off, with always', async () => {
    const client = new Client(emulator)
    emulator.always('token', () => ({ status: 503 }))
    expect([(await client.exchange('x')).status, (await client.exchange('x')).status]).toEqual([503, 503])
    emulator.always('token', undefined)
    expect((await client.exchange('x')).status).toBe(400)
  })
})

describe('a function that fails', () => {
  it.each<[string, (answer: EmulatedResponse) => unknown, RegExp]>([
    [
      'throws',
      () => {
        throw new RangeError('my own mistake')
      },
      /RangeError: my own mistake/u,
    ],
    ['rejects', () => Promise.reject(new Error('too late')), /too late/u],
    ['returns no object', () => 'text', /must return an object or nothing/u],
    ['returns a status that is none', () => ({ status: 20 }), /status must be 200 to 599/u],
    ['breaks the headers', (answer) => void Reflect.set(answer, 'headers', 'none'), /headers must be an object/u],
    ['leaves a body that is no JSON', () => ({ body: () => 1 }), /must be JSON/u],
  ])('and %s gets its client a 500 at once, and its test an error', async (_, transform, message) => {
    const emulator = await startEmulator()
    // As JavaScript writes it: a function that returns anything.
    Reflect.apply(Reflect.get(emulator, 'once'), emulator, ['token', transform])
    const answer = await new Client(emulator).exchange('x')
    expect([answer.status, json(answer)['error']]).toEqual([500, 'emulator_test_function_failed'])
    expect(json(answer)['error_description']).toMatch(message)
    expect(emulator.failures).toEqual([{ where: "once('token', …)", error: expect.anything() }])

    const failure: unknown = await emulator.close().catch((error: unknown) => error)
    expect(String(failure)).toMatch(/^Error: A function given to emulator\.once\('token', …\) failed/u)
    expect(String(failure)).toMatch(message)
    await expect(fetch(emulator.authUrl)).rejects.toThrow('fetch failed')
    await emulator.close()
  })

  it('names its cause, which knows the line of the test', async () => {
    const emulator = await startEmulator()
    emulator.always<TokenResponse>('refresh', () => {
      throw new Error('here')
    })
    await new Client(emulator).refresh('x')
    const failure: unknown = await emulator.close().catch((error: unknown) => error)
    expect(Object(failure).cause.stack).toContain('transform.test.ts')
  })

  it('is not reported after the test where the test empties emulator.failures', async () => {
    await using emulator = await startEmulator()
    emulator.once('token', () => {
      throw new Error('on purpose')
    })
    expect((await new Client(emulator).exchange('x')).status).toBe(500)
    emulator.failures.length = 0
  })
})
