import { useEmulator } from '@owner-sso/emulator/jest'
import { afterEach, beforeEach, expect, it } from '@jest/globals'
import { startUnverifiedRedis, type UnverifiedRedis } from '../../../tests/support/unverified-redis.ts'
import { type Ended, useMachine } from './machine.ts'

const emulator = useEmulator()
const machine = useMachine(emulator)
let server: UnverifiedRedis

beforeEach(async () => {
  server = await startUnverifiedRedis()
})
afterEach(async () => {
  await server.close()
})

const accounts = (env: NodeJS.ProcessEnv = {}): Promise<Ended> =>
  machine.run(['accounts'], { env: { ...env, OWNER_SSO_STORE: server.url } })

it('gives a Redis server that can’t be verified no password, whatever the environment says', async () => {
  const { code, stderr } = await accounts({ NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_NO_WARNINGS: '1' })
  expect([code, server.received()]).toEqual([expect.any(Number), ''])
  expect(code).not.toBe(0)
  expect(stderr).toContain('can’t be reached')
})

it('gives it to one whose CA was given', async () => {
  await accounts({ OWNER_SSO_CA: machine.file('ca.pem', server.certificate) })
  expect(server.received()).toContain('hush')
})
