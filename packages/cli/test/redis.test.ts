import { useEmulator } from '@owner-sso/emulator/jest'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { createClient } from 'redis'
import { describeWithRedis, type RedisServer, startRedis } from '../../../tests/support/redis-server.ts'
import { startUnverifiedRedis, type UnverifiedRedis } from '../../../tests/support/unverified-redis.ts'
import { type Ended, type Machine, newMachine, useMachine } from './machine.ts'

describeWithRedis('a store in Redis', () => {
  const emulator = useEmulator()
  let machine: Machine
  let redis: RedisServer
  let url: string

  beforeAll(async () => {
    machine = newMachine(emulator)
    redis = await startRedis('--requirepass', 'hush')
    url = `redis://:hush@127.0.0.1:${redis.port}/3`
  })
  afterAll(async () => {
    await redis.stop()
    machine.remove()
  })

  it('holds what a login stored, sealed, for every command, and never shows its password', async () => {
    const env = { OWNER_SSO_STORE: url, OWNER_SSO_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') }
    const said = [await machine.signIn('plain@example.com', { env })]
    for (const args of [['token'], ['status'], ['doctor'], ['status', '--json']]) {
      said.push(await machine.run(args, { env }))
    }
    expect(said.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0])
    expect(said[2]?.stdout).toContain(`Store: redis://127.0.0.1:${new URL(url).port}/3`)
    expect(said[3]?.stdout).toContain('append-only file is off')
    expect(said.map(({ stdout, stderr }) => stdout + stderr).join('')).not.toContain('hush')
    expect(said[3]?.stdout).toContain('records are sealed (AES-256-GCM); the key is in OWNER_SSO_ENCRYPTION_KEY')
    const client = createClient({ url })
    await client.connect()
    const keys = await client.keys('*')
    const types = await Promise.all(keys.map((key) => client.type(key)))
    const records = await Promise.all(
      keys.filter((_, index) => types[index] === 'string').map((key) => client.get(key)),
    )
    client.destroy()
    expect(records.filter((record) => record?.includes('"state":"sealed"')).length).toBeGreaterThan(0)
    expect(records.some((record) => record?.includes('token"'))).toBe(false)
  })

  it('tells a wrong password and a server that is down apart', async () => {
    const env = { OWNER_SSO_STORE: url.replace('hush', 'wrong') }
    const { code, stderr } = await machine.run(['token'], { env })
    expect(code).toBe(6)
    expect(stderr).toContain('does not accept this user name and password')
    expect(stderr).not.toContain('wrong@')
  })

  it('says that a database is not there, or that the server is no Redis', async () => {
    for (const [address, told] of [
      [url.replace(/3$/u, '99'), 'has no database of this number: correct the end of its address.'],
      [`redis://${new URL(emulator.authUrl).host}`, 'nothing there answers as Redis does: check the port, and whether'],
    ]) {
      const { code, stderr } = await machine.run(['token'], { env: { OWNER_SSO_STORE: address } })
      expect({ code, stderr }).toEqual({ code: 6, stderr: expect.stringContaining(String(told)) })
      expect(stderr).not.toContain('hush')
    }
  })

  it('gets the accounts of a folder by owner-sso copy', async () => {
    await machine.signIn('regional@example.com')
    const config = { OWNER_SSO_STORE: url }
    const refused = await machine.run(['copy', `file:${machine.tokensFolder}`, url])
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('OWNER_SSO_STORE')
    const copied = await machine.run(['copy', `file:${machine.tokensFolder}`, '-', '--json'], { env: config })
    expect(JSON.parse(copied.stdout)).toMatchObject({ copied: 1, to: `redis://127.0.0.1:${new URL(url).port}/3` })
    expect((await machine.run(['token', '--account', 'regional@example.com'], { env: config })).code).toBe(0)
  })
})

describe('a Redis server with TLS', () => {
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
})
