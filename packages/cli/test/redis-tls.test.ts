import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer, type Server } from 'node:tls'
import { useEmulator } from '@owner-sso/emulator/jest'
import { afterEach, beforeEach, expect, it } from '@jest/globals'
import { generate } from 'selfsigned'
import { type Machine, newMachine } from './machine.ts'

const emulator = useEmulator()
let machine: Machine
let server: Server
/** What clients wrote, decrypted. */
let received: string
let certificate: string

beforeEach(async () => {
  machine = newMachine(emulator)
  received = ''
  const altNames = [{ type: 7, ip: '127.0.0.1' }] as const
  const { private: key, cert } = await generate([{ name: 'commonName', value: '127.0.0.1' }], {
    extensions: [{ name: 'subjectAltName', altNames: [...altNames] }],
  })
  certificate = cert
  server = createServer({ key, cert }, (socket) => {
    socket.on('error', () => {}).on('data', (chunk) => (received += chunk.toString()))
    socket.once('data', () => socket.end('-ERR no\r\n'))
  }).listen(0, '127.0.0.1')
  server.on('tlsClientError', () => {})
  await once(server, 'listening')
})
afterEach(async () => {
  machine.remove()
  server.close()
  await once(server, 'close')
})

const accounts = (env: NodeJS.ProcessEnv = {}) => {
  const { port } = server.address() as AddressInfo
  return machine.run(['accounts'], { env: { ...env, OWNER_SSO_STORE: `rediss://:hush@127.0.0.1:${port}` } })
}

it('gives a Redis server that can’t be verified no password, whatever the environment says', async () => {
  const { code, stderr } = await accounts({ NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_NO_WARNINGS: '1' })
  expect([code, received]).toEqual([expect.any(Number), ''])
  expect(code).not.toBe(0)
  expect(stderr).toContain('can’t be reached')
})

it('gives it to one whose CA was given', async () => {
  await accounts({ OWNER_SSO_CA: machine.file('ca.pem', certificate) })
  expect(received).toContain('hush')
})
