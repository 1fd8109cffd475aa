import { afterAll, beforeAll, expect, it } from '@jest/globals'
import type { TokenManager } from '@owner-sso/core'
import { type Emulator, startEmulator } from '@owner-sso/emulator'
import { ownerApiProxy, type OwnerApiProxyOptions } from '../../src/index.ts'
import { listen } from '../servers.ts'
import { account, signedInTokens } from '../tokens.ts'

let emulator: Emulator
let tokens: TokenManager

beforeAll(async () => {
  emulator = await startEmulator({ tls: true, firewall: false })
  tokens = await signedInTokens(emulator)
})
afterAll(() => emulator.close())

async function callWith(tls: OwnerApiProxyOptions['tls']): Promise<{ status: number; body: unknown }> {
  const proxy = ownerApiProxy({ target: emulator.ownerApiUrl, tokens, account, authorize: true, tls })
  const home = await listen(proxy)
  const answer = await fetch(`${home.url}/api/1/vehicles`)
  const body: unknown = await answer.json()
  await home.close()
  await proxy.close()
  return { status: answer.status, body }
}

const lastTlsVersion = () => emulator.requests.filter(({ path }) => path.startsWith('/api/1/')).at(-1)?.tlsVersion

it('speaks TLS 1.2 at most, with a CA of one’s own', async () => {
  expect(await callWith({ ca: emulator.ca })).toMatchObject({ status: 200, body: { count: 2 } })
  expect(lastTlsVersion()).toBe('TLSv1.2')
})

it('speaks TLS 1.3 where an option says so', async () => {
  expect((await callWith({ ca: emulator.ca, maxVersion: 'TLSv1.3' })).status).toBe(200)
  expect(lastTlsVersion()).toBe('TLSv1.3')
})

it('sends nothing to a server that it can’t verify, also where the environment says not to', async () => {
  const before = emulator.requests.length
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
  try {
    const { status, body } = await callWith(undefined)
    expect(status).toBe(502)
    expect(JSON.stringify(body)).toMatch(
      /UNABLE_TO_VERIFY_LEAF_SIGNATURE|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_GET_ISSUER_CERT/u,
    )
  } finally {
    delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
  }
  expect(emulator.requests.length).toBe(before)
})
