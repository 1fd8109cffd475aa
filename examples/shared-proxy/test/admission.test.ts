/** Who gets through the door, and for which account. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { beforeAll, beforeEach, expect, it } from '@jest/globals'
import { account, call, type Deployment, deploy, useRedis } from './deployment.ts'
import { describeWithRedis } from '../../../tests/support/redis-server.ts'

const keys = { home: 'home'.repeat(11), family: 'family'.repeat(8), empty: 'nobody'.repeat(8) }
const other = 'mfa@example.com'
/** On a list, with letters that are not ASCII, and never signed in. */
const unknown = 'müller@example.com'

const clients = [
  { name: 'home', key: keys.home, accounts: [account] },
  { name: 'family', key: keys.family, accounts: [account, other, unknown] },
]

const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` })
/** Headers go over the wire as bytes; Node writes strings as Latin-1. */
const named = (name: string): Record<string, string> => ({ 'x-owner-account': Buffer.from(name).toString('latin1') })

describeWithRedis('the door of the gateway', () => {
  useRedis('all')
  let deployment: Deployment
  let url: string
  beforeAll(async () => {
    deployment = await deploy({ clients })
    url = `${deployment.instance(0).url}/api/1/vehicles`
  })

  const sent = (): number =>
    deployment.emulator.counters.ownerApiCalls + deployment.emulator.counters.ownerApiRejections
  let before = 0
  beforeEach(() => {
    before = sent()
  })
  /** Calls that reached the owner API in this test. */
  const forwarded = (): number => sent() - before

  it('opens to a key for the accounts on its list', async () => {
    expect(await call(url, bearer(keys.home))).toMatchObject({ status: 200 })
    expect(await call(url, { ...bearer(keys.home), ...named(account) })).toMatchObject({ status: 200 })
    expect(await call(url, { ...bearer(keys.family), ...named(account) })).toMatchObject({ status: 200 })
    expect(await call(url, { authorization: `bearer  ${keys.home}` })).toMatchObject({ status: 200 })
    expect(await call(url, { ...bearer(keys.home), ...named(account.toUpperCase()) })).toMatchObject({ status: 200 })
    expect(forwarded()).toBe(5)
  })

  it('forwards neither the key nor the name of the account', async () => {
    await call(url, { ...bearer(keys.home), ...named(account) })
    const seen = deployment.emulator.requests.find(({ path }) => path === '/api/1/vehicles')
    expect(seen?.headers).not.toHaveProperty('x-owner-account')
    expect(JSON.stringify(deployment.emulator.requests)).not.toContain(keys.home)
  })

  it.each([
    ['no key', {}, 401, 'ERR_GATEWAY_UNKNOWN_KEY'],
    ['an unknown key', bearer(keys.empty), 401, 'ERR_GATEWAY_UNKNOWN_KEY'],
    ['the beginning of a key', bearer(keys.home.slice(0, -1)), 401, 'ERR_GATEWAY_UNKNOWN_KEY'],
    ['a key in another scheme', { authorization: `Basic ${keys.home}` }, 401, 'ERR_GATEWAY_UNKNOWN_KEY'],
    ['a key in another header', { 'x-api-key': keys.home }, 401, 'ERR_GATEWAY_UNKNOWN_KEY'],
    [
      'an unknown key and a known account',
      { ...bearer(keys.empty), ...named(account) },
      401,
      'ERR_GATEWAY_UNKNOWN_KEY',
    ],
    ['another client’s account', { ...bearer(keys.home), ...named(other) }, 403, 'ERR_GATEWAY_ACCOUNT_NOT_ALLOWED'],
    [
      'an account of nobody',
      { ...bearer(keys.home), ...named('x@example.com') },
      403,
      'ERR_GATEWAY_ACCOUNT_NOT_ALLOWED',
    ],
    ['an empty account', { ...bearer(keys.home), ...named('') }, 403, 'ERR_GATEWAY_ACCOUNT_NOT_ALLOWED'],
    [
      'two accounts',
      { ...bearer(keys.family), ...named(`${account}, ${other}`) },
      403,
      'ERR_GATEWAY_ACCOUNT_NOT_ALLOWED',
    ],
    ['several accounts and none named', bearer(keys.family), 400, 'ERR_GATEWAY_NO_ACCOUNT'],
    ['an account that is not signed in', { ...bearer(keys.family), ...named(other) }, 401, 'ERR_SSO_SIGNED_OUT'],
    ['the same with other letters', { ...bearer(keys.family), ...named(unknown) }, 401, 'ERR_SSO_SIGNED_OUT'],
  ])('is shut to %s', async (_what, headers, status, code) => {
    const answer = await call(url, { authorization: '', ...headers })
    expect(answer).toMatchObject({ status, headers: { 'content-type': 'application/problem+json' } })
    expect(JSON.parse(answer.body)).toMatchObject({ status, code })
    expect(forwarded()).toBe(0)
  })

  it('names the scheme of its keys in a 401', async () => {
    const { headers } = await call(url, bearer(keys.empty))
    expect(headers['www-authenticate']).toBe('Bearer realm="owner API gateway"')
  })

  it.each(['/api/1/../../healthz', '//healthz', '/healthz/', '/metrics?a', '/', '/etc'])(
    'asks for a key at %s, and answers 4xx to whoever has one',
    async (path) => {
      const { port } = deployment.instance(0)
      const statusOf = async (key: string): Promise<number> => {
        const answer = await raw(
          port,
          `GET ${path} HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`,
        )
        return Number(/^HTTP\/1\.1 (\d+)/u.exec(answer)?.[1])
      }
      expect(await statusOf(keys.empty)).toBe(401)
      expect([400, 404]).toContain(await statusOf(keys.home))
      expect(forwarded()).toBe(0)
    },
  )

  it.each([
    ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n', 405],
    [
      'an upgrade',
      `GET /api/1/vehicles HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${keys.home}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
      501,
    ],
    [
      'a POST to a page',
      'POST /healthz HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\nContent-Length: 0\r\n\r\n',
      405,
    ],
  ])('rejects %s', async (_what, request, status) => {
    expect(await raw(deployment.instance(0).port, request)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `, 'u'))
    expect(forwarded()).toBe(0)
  })

  it('answers clients that offer HTTP/2, with a key and at the pages', async () => {
    for (const path of ['/api/1/vehicles', '/healthz']) {
      const head = [`GET ${path} HTTP/1.1`, 'Host: gateway', `Authorization: Bearer ${keys.home}`]
      const offer = ['Connection: Upgrade, HTTP2-Settings, close', 'Upgrade: h2c', 'HTTP2-Settings: AAEAAEAAAAIAAAAA']
      expect(await raw(deployment.instance(0).port, [...head, ...offer, '', ''].join('\r\n'))).toMatch(
        /^HTTP\/1\.1 200 /u,
      )
    }
  })
})

/** All that comes back over a bare socket. */
async function raw(port: number, request: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write(request)
  return text(socket)
}
