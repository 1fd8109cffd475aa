import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { ownerApiProxy, type OwnerApiProxyOptions } from '../../src/index.ts'
import { account, tokensOf } from '../tokens.ts'

const valid = async (): Promise<OwnerApiProxyOptions> => ({
  target: 'https://owner-api.example.com',
  tokens: await tokensOf(),
  account,
  authorize: true,
})

const without = (name: keyof OwnerApiProxyOptions) => ({ [name]: undefined })

describe('a wrong option is a TypeError at the start that names it', () => {
  it.each<[string, Record<string, unknown>]>([
    ['target must be', { target: 'http://owner-api.example.com' }],
    ['target must be', { target: 'ftp://127.0.0.1' }],
    ['target must be', { target: 'http://127.0.0.1.example.com' }],
    ['target must be', { target: 'owner-api.example.com' }],
    ['target must be', { target: 5 }],
    ['target must be', without('target')],
    ['target must have no', { target: 'https://user:secret@owner-api.example.com' }],
    ['target must have no', { target: 'https://owner-api.example.com/?x=1' }],
    ['tokens must be', without('tokens')],
    ['tokens must be', { tokens: {} }],
    ['tokens must be', { tokens: { getAccessToken: () => 'x' } }],
    ['tokens must be', { tokens: 'token' }],
    ['authorize must be', without('authorize')],
    ['authorize must be', { authorize: false }],
    ['authorize must be', { authorize: 'true' }],
    ['account must be', { account: '' }],
    ['account must be', { account: 5 }],
    ['account must be', { account: null }],
    ['paths must be', { paths: [] }],
    ['paths must be', { paths: '/api/1/' }],
    ['paths must be', { paths: ['api/1'] }],
    ['paths must be', { paths: ['/api/../1'] }],
    ['paths must be', { paths: ['/api/%2e'] }],
    ['requestHeaders must be', { requestHeaders: 'x-own' }],
    ['requestHeaders must be', { requestHeaders: ['x own'] }],
    ['trustedOrigins must be', { trustedOrigins: ['https://app.example.com/'] }],
    ['trustedOrigins must be', { trustedOrigins: ['*'] }],
    ['maxConcurrent must be', { maxConcurrent: 0 }],
    ['maxConcurrent must be', { maxConcurrent: Infinity }],
    ['replayLimit must be', { replayLimit: -1 }],
    ['connectTimeout must be', { connectTimeout: '10s' }],
    ['headersTimeout must be', { headersTimeout: 0 }],
    ['bodyTimeout must be', { bodyTimeout: 2 ** 31 }],
    ['maxDuration must be', { maxDuration: 1.5 }],
    ['tls must be', { tls: null }],
    ['tls.rejectUnauthorized is not an option', { tls: { rejectUnauthorized: false } }],
    ['tls.maxVersion must be', { tls: { maxVersion: 'TLSv1.1' } }],
    ['userAgent must be', { userAgent: 'a\r\nb: c' }],
    ['changeOrigin is not an option', { changeOrigin: true }],
  ])('%s … (%j)', async (message, wrong) => {
    const options = { ...(await valid()), ...wrong }
    const start = () => ownerApiProxy(options as OwnerApiProxyOptions)
    expect(start).toThrow(TypeError)
    expect(start).toThrow(message)
    expect(start).not.toThrow('secret')
  })

  it.each([
    ['requestHeaders', 'Authorization'],
    ['requestHeaders', 'Cookie'],
    ['requestHeaders', 'Host'],
    ['requestHeaders', 'Connection'],
    ['requestHeaders', 'Transfer-Encoding'],
    ['requestHeaders', 'Content-Length'],
    ['requestHeaders', 'Upgrade'],
    ['requestHeaders', 'Proxy-Authorization'],
    ['requestHeaders', 'X-Forwarded-For'],
    ['requestHeaders', 'Forwarded'],
    ['requestHeaders', 'X-HTTP-Method-Override'],
    ['responseHeaders', 'Set-Cookie'],
    ['responseHeaders', 'WWW-Authenticate'],
    ['responseHeaders', 'Transfer-Encoding'],
    ['responseHeaders', 'Server'],
    ['responseHeaders', 'Access-Control-Allow-Origin'],
    ['responseHeaders', 'Strict-Transport-Security'],
    ['responseHeaders', 'X-Accel-Redirect'],
    ['responseHeaders', 'Surrogate-Control'],
    ['responseHeaders', 'CDN-Cache-Control'],
    ['responseHeaders', 'Acme-CDN-Cache-Control'],
  ])('%s can’t be made to forward %s', async (option, name) => {
    const options = { ...(await valid()), [option]: ['x-own', name] }
    expect(() => ownerApiProxy(options)).toThrow(
      `${option} can’t include ${name.toLowerCase()}, which is never forwarded`,
    )
  })

  it.each([undefined, null, 'options'])('no options at all (%s)', (options) => {
    expect(() => ownerApiProxy(options as never)).toThrow(TypeError)
  })
})

it.each([
  'https://owner-api.example.com',
  'https://owner-api.example.com/base/',
  'http://127.0.0.1:8080',
  'http://localhost:8080',
  'http://[::1]:8080',
  new URL('https://owner-api.example.com'),
])('takes the target %s', async (target) => {
  const proxy = ownerApiProxy({ ...(await valid()), target })
  await expect(proxy.close()).resolves.toBeUndefined()
})

describe('the environment', () => {
  const { env } = process
  beforeEach(() => {
    process.env = { ...env }
  })
  afterEach(() => {
    process.env = env
  })

  it('gives the target where the options have none', async () => {
    process.env['OWNER_SSO_API_URL'] = 'https://owner-api.example.com'
    const { target: _target, ...options } = await valid()
    await expect(ownerApiProxy(options).close()).resolves.toBeUndefined()
  })

  it('can’t turn certificate checks off', async () => {
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
    const options = await valid()
    expect(() => ownerApiProxy(options)).toThrow('NODE_TLS_REJECT_UNAUTHORIZED')
  })
})
