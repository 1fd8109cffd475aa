import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { type Emulator, startEmulator } from '@owner-sso/emulator'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { type ConnectProxy, startConnectProxy } from '../../../tests/support/connect-proxy.ts'
import { runCertificate } from '../src/broker/run-certificate.ts'
import { credential, type Ended, type Machine, newMachine } from './machine.ts'

const account = 'plain@example.com'
/** Of the proxy. Its password has to be percent-encoded in an address. */
const login = 'ann:p@ss-word'
const password = /p@ss-word|p%40ss-word/u

let emulator: Emulator
let machine: Machine
let proxy: ConnectProxy
let auth: string
let api: string

beforeEach(async () => {
  emulator = await startEmulator({ tls: true, firewall: false })
  machine = newMachine(emulator)
  auth = new URL(emulator.authUrl).host
  api = new URL(emulator.ownerApiUrl).host
})
afterEach(async () => {
  machine.remove()
  await proxy.close()
  await emulator.close()
})

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'))
const loopback = ['127.0.0.1', ...(hasIpv6 ? ['::1'] : [])]

const env = (given: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
  OWNER_SSO_CA: machine.file('ca.pem', emulator.ca ?? ''),
  OWNER_SSO_CREDENTIAL: credential,
  ...given,
})
const withLogin = (): string => `http://ann:p%40ss-word@${new URL(proxy.proxy).host}`
const doctor = (given: NodeJS.ProcessEnv, ...args: string[]): Promise<Ended> =>
  machine.run(['doctor', ...args], { env: env(given) })

describe('the outbound proxy', () => {
  it('carries a sign-in, a refresh, what doctor looks at and calls of the owner API', async () => {
    proxy = await startConnectProxy(407, login)
    const all = env({ OWNER_SSO_PROXY: withLogin() })
    const tunnelsOf = async (call: Promise<Ended>): Promise<string[]> => {
      const before = proxy.tunnels.length
      const { code, stdout, stderr } = await call
      expect([code, stderr]).toEqual([0, expect.any(String)])
      expect(stdout + stderr).not.toMatch(password)
      return proxy.tunnels.slice(before)
    }
    expect(await tunnelsOf(machine.run(['login', '--account', account], { env: all }))).toEqual([auth])
    expect(await tunnelsOf(machine.run(['refresh'], { env: all, ahead: 120 }))).toEqual([auth])
    expect(await tunnelsOf(machine.run(['doctor', '--live', '--yes'], { env: all, ahead: 240 }))).toEqual([
      auth, // Reached, both; then refreshed, and called.
      api,
      auth,
      api,
    ])
    const serving = machine.start(['proxy'], { env: all })
    const [url] = await once(serving.stdout!, 'data')
    expect((await fetch(`${String(url).trim()}/api/1/vehicles`)).status).toBe(200)
    expect(proxy.tunnels.at(-1)).toBe(api)
  })

  it('comes from the option, else the variable, else the config file, and is shown without a password', async () => {
    proxy = await startConnectProxy(407, login)
    const { origin } = new URL(proxy.proxy)
    const folder = join(machine.home, '.config', 'owner-sso')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ proxy: withLogin() }), { mode: 0o600 })
    const configured = await doctor({})
    expect(configured).toMatchObject({ code: 0, stdout: expect.stringContaining(`${origin} (${folder}`) })
    expect(configured.stdout).toContain('reached over TLSv1.2 through the outbound proxy')
    expect(configured.stdout).not.toMatch(password)
    const optional = await doctor({ OWNER_SSO_PROXY: 'http://127.0.0.1:1' }, '--proxy', origin)
    expect(optional.stdout).toContain(`${origin} (--proxy)`)
    expect(optional.code).toBe(7)
  })

  it.each(loopback)('is found at %s', async (host) => {
    proxy = await startConnectProxy(undefined, undefined, { host })
    expect(await doctor({ OWNER_SSO_PROXY: proxy.proxy })).toMatchObject({ code: 0, stderr: '' })
    expect(proxy.tunnels).toEqual([auth, api])
  })

  it('that speaks TLS is known by its own name', async () => {
    const { authority, cert, key } = await runCertificate(['127.0.0.1'])
    proxy = await startConnectProxy(undefined, undefined, { tls: { cert, key } })
    const trusting = { OWNER_SSO_PROXY: proxy.proxy, NODE_EXTRA_CA_CERTS: machine.file('proxy.pem', authority) }
    const { code } = await doctor({ ...trusting, OWNER_SSO_AUTH_URL: emulator.regionalAuthUrl })
    expect([code, proxy.tunnels]).toEqual([0, [new URL(emulator.regionalAuthUrl).host, api]])
  })

  it.each([
    ['asks for a password', 407, /asks for a user and a password \(407\)/u, 'http://USER:PASSWORD@HOST:PORT'],
    ['rejects a tunnel', 403, /rejects a tunnel to that address \(403\)/u, 'allow CONNECT there'],
    ['can’t reach the host', 502, /can’t reach that address \(502\)/u, 'correct OWNER_SSO_PROXY'],
    ['is overloaded', 503, /can’t reach that address \(503\)/u, 'correct OWNER_SSO_PROXY'],
  ])('that %s is told by doctor, with what to do', async (_name, status, text, fix) => {
    proxy = await startConnectProxy(status)
    const { code, stdout } = await doctor({ OWNER_SSO_PROXY: proxy.proxy })
    expect(code).toBe(7)
    expect(stdout).toMatch(text)
    expect(stdout).toContain(fix)
    expect(emulator.requests).toEqual([])
  })

  it('may open the tunnel with another 2xx than 200', async () => {
    proxy = await startConnectProxy(undefined, undefined, { success: 201 })
    expect(await doctor({ OWNER_SSO_PROXY: proxy.proxy })).toMatchObject({ code: 0, stderr: '' })
  })

  it('that can’t be reached is told by doctor, without its password', async () => {
    proxy = await startConnectProxy()
    const { code, stdout } = await doctor({ OWNER_SSO_PROXY: 'http://ann:p%40ss-word@127.0.0.1:1' })
    expect(code).toBe(7)
    expect(stdout).toMatch(/through the outbound proxy http:\/\/127.0.0.1:1: nothing listens there \(ECONNREFUSED\)/u)
    expect(stdout).toContain('correct OWNER_SSO_PROXY')
    expect(stdout).not.toMatch(password)
  })

  it('that can’t be used is rejected by the name of its setting, and not shown', async () => {
    proxy = await startConnectProxy()
    const wrong = { OWNER_SSO_PROXY: 'socks5://ann:p@ss-word@127.0.0.1:1' }
    for (const { code, stdout, stderr } of [await machine.run(['refresh'], { env: env(wrong) }), await doctor(wrong)]) {
      expect(code).toBe(2)
      expect(stdout + stderr).toMatch(/proxy must be an http or https address.*OWNER_SSO_PROXY/su)
      expect(stdout + stderr).not.toMatch(password)
    }
  })
})
