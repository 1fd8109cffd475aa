/** Redis over TLS: its password goes to a server that can be verified, whatever the environment says. */
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer, type Server } from 'node:tls'
import { afterEach, beforeEach, expect, it } from '@jest/globals'
import { generate } from 'selfsigned'
import { account, apiKey, clientsFile, endAll } from './deployment.ts'
import { type Program, run } from './instance.ts'

let server: Server
/** What clients wrote, decrypted. */
let received: string
let folder: string
let instance: Program | undefined

beforeEach(async () => {
  received = ''
  folder = mkdtempSync(join(tmpdir(), 'owner-sso-redis-tls-'))
  const { private: key, cert } = await generate([{ name: 'commonName', value: '127.0.0.1' }], {
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  })
  writeFileSync(join(folder, 'ca.pem'), cert)
  server = createServer({ key, cert }, (socket) => {
    socket.on('error', () => {}).on('data', (chunk) => (received += chunk.toString()))
    socket.once('data', () => socket.end('-ERR no\r\n'))
  }).listen(0, '127.0.0.1')
  server.on('tlsClientError', () => {})
  await once(server, 'listening')
})
afterEach(async () => {
  instance?.child.kill('SIGKILL')
  await instance?.exitCode
  server.close()
  await once(server, 'close')
  rmSync(folder, { recursive: true })
  await endAll()
})

/** Starts an instance and waits until its first connection has failed. */
async function startAndFail(environment: Readonly<Record<string, string>>): Promise<string> {
  const { port } = server.address() as AddressInfo
  instance = run('main', {
    environment: {
      PORT: '0',
      OWNER_SSO_AUTH_URL: 'http://127.0.0.1:9',
      OWNER_SSO_API_URL: 'http://127.0.0.1:9',
      OWNER_SSO_STORE: `rediss://:hush@127.0.0.1:${port}`,
      OWNER_SSO_CLIENTS_FILE: clientsFile([{ name: 'test', key: apiKey, accounts: [account] }]),
      ...environment,
    },
  })
  const [, code = ''] = await instance.prints(/"redis-down","code":"([^"]+)"/u)
  return code
}

it('a server that can’t be verified gets no password, also where NODE_TLS_REJECT_UNAUTHORIZED is 0', async () => {
  const code = await startAndFail({ NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_NO_WARNINGS: '1' })
  expect({ code, received }).toEqual({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT', received: '' })
  expect(instance?.printed()).not.toContain('hush')
})

it('one whose CA was given gets it', async () => {
  await startAndFail({ NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') })
  expect(received).toContain('hush')
})
