import { fork } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, it } from '@jest/globals'
import type { TokenManager } from '@owner-sso/core'
import { useEmulator } from '@owner-sso/emulator/jest'
import { ownerApiProxy, type OwnerApiProxyOptions } from '../../src/index.ts'
import { openSocket, rawRequest, until } from '../raw-http.ts'
import { listen } from '../servers.ts'
import { account, signedInTokens } from '../tokens.ts'

const emulator = useEmulator({ tls: true, firewall: false })
let tokens: TokenManager

beforeAll(async () => {
  tokens = await signedInTokens(emulator)
})

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

it('sends nothing to a server that it can’t verify, also where the environment says not to look', async () => {
  const before = emulator.requests.length
  // Of the whole process: Node reads this variable where a test can't change it.
  const child = fork(fileURLToPath(new URL('proxy-process.mjs', import.meta.url)), {
    env: { ...process.env, NODE_TLS_REJECT_UNAUTHORIZED: '0' },
    execArgv: ['--no-warnings'],
  })
  child.send({ target: emulator.ownerApiUrl, token: await tokens.getAccessToken(account) })
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  const answer = await fetch(`http://127.0.0.1:${port}/api/1/vehicles`)
  expect(answer.status).toBe(502)
  expect(await answer.json()).toMatchObject({ code: 'ERR_OWNER_API_UNREACHABLE' })
  expect(emulator.requests.length).toBe(before)
  child.kill()
  await once(child, 'exit')
})

it('sends nothing for a caller that hangs up before there is a connection', async () => {
  const before = emulator.requests.length
  const held: Socket[] = []
  const gate = createServer((socket) => held.push(socket)).listen(0, '127.0.0.1')
  await once(gate, 'listening')
  const { port } = gate.address() as AddressInfo
  const target = `https://127.0.0.1:${port}`
  const proxy = ownerApiProxy({ target, tokens, account, authorize: true, tls: { ca: emulator.ca } })
  const home = await listen(proxy)
  const caller = await openSocket(home.port)
  caller.write(rawRequest('GET', '/api/1/vehicles'))
  await until(() => held.length === 1)
  caller.destroy()
  await until(() => proxy.active() === 0)
  // Only now the TLS handshake gets through.
  const upstream = connect(Number(new URL(emulator.ownerApiUrl).port), '127.0.0.1')
  upstream.pipe(held[0]!).pipe(upstream)
  await once(held[0]!, 'close')
  upstream.destroy()
  expect(emulator.requests.length).toBe(before)
  gate.close()
  await home.close()
  await proxy.close()
})
