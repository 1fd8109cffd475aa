import { describe, expect, it } from '@jest/globals'
import { Agent, get } from 'node:http'
import { once } from 'node:events'
import { connect } from 'node:net'
import { startEmulator } from '../../src/index.ts'
import { useEmulator } from '../../src/jest.ts'
import { Client, codeOf, demoCredential, json } from '../client.ts'

const emulator = useEmulator()

describe('the log of requests', () => {
  it('names what arrived, in order, with its answer', async () => {
    const before = emulator.requests.length
    await new Client(emulator).login('plain@example.com')
    const entries = emulator.requests.slice(before)
    expect(entries.map(({ method, path, status }) => [method, path, status])).toEqual([
      ['GET', '/oauth2/v3/authorize', 200],
      ['POST', '/oauth2/v3/authorize', 302],
      ['POST', '/oauth2/v3/token', 200],
    ])
    expect(entries[0]).toMatchObject({
      host: new URL(emulator.authUrl).host,
      query: { client_id: 'ownerapi', response_type: 'code', state: 'some state' },
      headers: { host: new URL(emulator.authUrl).host },
      tlsVersion: undefined,
    })
    expect(entries[1]?.body).toMatchObject({
      identity: 'plain@example.com',
      _phase: 'authenticate',
      credential: '[masked]',
    })
    expect(entries[2]?.body).toMatchObject({
      grant_type: 'authorization_code',
      code: '[masked]',
      code_verifier: '[masked]',
    })
    expect(entries[0]?.at).toBeCloseTo(emulator.clock.now(), -1)
  })

  it('holds no secret of a whole login, refresh and owner API call', async () => {
    const client = new Client(emulator)
    const account = emulator.account('mfa@example.com')
    const { hidden, transaction_id, csrf } = await client.reachPasscode(account.identity)
    const passcode = account.passcode()
    await client.factors(transaction_id)
    await client.verify({ transaction_id, csrf }, account, { passcode })
    const code = codeOf(await client.post({ transaction_id, _csrf: csrf }))
    const tokens = json(await client.exchange(code))
    const fresh = json(await client.refresh(tokens['refresh_token']))
    await fetch(`${emulator.ownerApiUrl}/api/1/vehicles`, {
      headers: { authorization: `Bearer ${fresh['access_token']}` },
    })
    await client.send(`/void/callback?code=${code}`)

    const log = JSON.stringify(emulator.requests)
    const secrets = [
      demoCredential,
      encodeURIComponent(demoCredential),
      client.verifier,
      code,
      csrf,
      hidden['_csrf'],
      transaction_id,
      `"${passcode}"`,
      ...client.cookies.values(),
      ...[tokens, fresh].flatMap((set) => [set['access_token'], set['refresh_token']]),
    ]
    expect(secrets.filter((secret) => secret === undefined || secret === '' || log.includes(secret))).toEqual([])
    expect(log).toContain('Bearer [masked]')
    expect(log).toContain('sso.sid=[masked]')
  })

  it('masks values of the wrong type under a harmless name, and keeps no body that it can’t parse', async () => {
    const client = new Client(emulator)
    await client.json('/oauth2/v3/token', { identity: { deep: 'secret-1' }, grant_type: ['x', 'y'] })
    await client.send('/oauth2/v3/token', { method: 'POST', body: 'secret-2' })
    expect(emulator.requests.at(-2)?.body).toEqual({ identity: '[masked]', grant_type: ['x', 'y'] })
    expect(emulator.requests.at(-1)?.body).toEqual({})
  })

  it('shows no value as if it were a name: of a body with the wrong content type, or without an equals sign', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    for (const body of [JSON.stringify({ credential: 'canary' }), 'canary', 'grant_type=a&canary=']) {
      await fetch(`${emulator.authUrl}/oauth2/v3/token`, { method: 'POST', headers, body })
    }
    await fetch(`${emulator.authUrl}/oauth2/v3/authorize?canary`)
    expect(emulator.requests).toHaveLength(4)
    expect(JSON.stringify(emulator.requests)).not.toContain('canary')
    expect(emulator.requests[2]?.body).toEqual({ grant_type: 'a', '[masked]': '[masked]' })
  })

  it('shows of headers no secret: the names, the scheme of a credential, an address without its query', async () => {
    const headers = {
      authorization: 'bearer canary',
      'proxy-authorization': 'canary',
      cookie: 'a=canary; canary; =canary; b=',
      referer: 'https://a.example/path?code=canary',
      accept: 'text/html?q',
    }
    const [answer] = await once(get(`${emulator.authUrl}/nowhere`, { headers }), 'response')
    answer.resume()
    expect(emulator.requests[0]?.headers).toMatchObject({
      authorization: 'bearer [masked]',
      'proxy-authorization': '[masked]',
      cookie: 'a=[masked]; [masked]; [masked]; b=[masked]',
      referer: 'https://a.example/path',
      accept: 'text/html?q',
    })
  })

  it('numbers connections', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const send = async (): Promise<number | undefined> => {
      const [answer] = await once(get(`${emulator.authUrl}/nowhere`, { agent }), 'response')
      answer.resume()
      await once(answer, 'end')
      return emulator.requests.at(-1)?.connection
    }
    const [first, second] = [await send(), await send()]
    agent.destroy()
    expect(second).toBe(first)
    const [answer] = await once(get(`${emulator.authUrl}/nowhere`, { agent: false }), 'response')
    answer.resume()
    expect(emulator.requests.at(-1)?.connection).toBe(Number(first) + 1)
  })

  it('keeps the last ten thousand', async () => {
    await using small = await startEmulator()
    const socket = connect(Number(new URL(small.authUrl).port), '127.0.0.1')
    const line = (path: string): string => `HEAD ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
    socket.resume().write(line('/first') + line('/nowhere').repeat(9_999) + line('/last'))
    while (small.requests.at(-1)?.path !== '/last') await new Promise(setImmediate)
    socket.destroy()
    expect(small.requests).toHaveLength(10_000)
    expect(small.requests[0]?.path).toBe('/nowhere')
  })
})
