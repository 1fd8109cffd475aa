/** `owner-sso login` with the variables of an instance: an account signs in, and every instance can call for it. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { createRequire } from 'node:module'
import { createSso, createTokenManager, transportFromText } from '@owner-sso/core'
import { startEmulator } from '@owner-sso/emulator'
import { redisTokenStore } from '@owner-sso/token-store-redis'
import { createClient } from 'redis'
import { expect, it } from '@jest/globals'
import { account, apiKey, atEnd, call, deploy, useRedis } from './deployment.ts'
import { startInstance } from './instance.ts'
import { describeWithRedis } from '../../../tests/support/redis-server.ts'

const credential = 'correct horse'
const command = createRequire(import.meta.url)
  .resolve('@owner-sso/cli/package.json')
  .replace(/package\.json$/u, 'dist/main.cjs')

describeWithRedis('a sign-in', () => {
  useRedis()

  it('puts the token set where the instances find it, and an invitation the program, sealed as they seal it', async () => {
    const name = 'sealed@example.com'
    const { environment, instance } = await deploy({
      emulator: { accounts: [account, name].map((identity) => ({ identity, credential })) },
      clients: [],
      encryptionKey: randomBytes(32).toString('base64'),
    })
    const { url, prints } = instance(0)
    await prints(/"no-clients","message":"Let a program in: owner-sso broker invite NAME --scope proxy"/u)
    const { PATH } = process.env
    const env = { PATH, ...environment, OWNER_SSO_CREDENTIAL: credential }
    const ownerSso = (...args: string[]): Promise<{ stdout: string }> =>
      promisify(execFile)(process.execPath, [command, ...args], { env })
    const invite = ['broker', 'invite', 'home', '--scope', 'proxy', '--account', `${account}, ${name}`]
    const authorization = `Bearer ${(await ownerSso(...invite)).stdout.trim()}`
    const statusFor = async (owner: string): Promise<number | undefined> =>
      (await call(`${url}/api/1/vehicles`, { authorization, 'x-owner-account': owner })).status
    expect([await statusFor(account), await statusFor(name)]).toEqual([200, 401])
    await ownerSso('login', '--account', name)
    expect(await statusFor(name)).toBe(200)
    expect(await call(`${url}/api/1/vehicles`, { authorization })).toMatchObject({ status: 400 })
    const client = createClient({ url: environment['OWNER_SSO_STORE'] ?? '' })
    await client.connect()
    // The next test's store is plain.
    atEnd(async () => {
      await client.flushAll()
      client.destroy()
    })
    const stored = JSON.stringify(await redisTokenStore({ client }).read(name))
    expect(stored).toContain('sealed')
    expect(stored).not.toContain('token')
  })

  it('goes over the transport that it is told, and so does the gateway', async () => {
    const name = 'modern@example.com'
    const clients = [{ name: 'test', key: apiKey, accounts: [name] }]
    const { environment: usual, store } = await deploy({ instances: 0, clients })
    const modern = await startEmulator({
      tls: true,
      http2: true,
      strictness: 'lenient',
      accounts: [{ identity: name, credential }],
    })
    atEnd(() => modern.close())
    const transport = JSON.stringify({
      tls: { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3', ca: modern.ca },
      http2: true,
    })
    const sso = createSso({ authUrl: modern.authUrl, transport: transportFromText(transport, 'transport') })
    await createTokenManager({ issuer: sso, store }).save(name, await sso.login({ identity: name, credential }))
    const instance = await startInstance({
      ...usual,
      OWNER_SSO_AUTH_URL: modern.authUrl,
      OWNER_SSO_REGIONAL_AUTH_URLS: modern.regionalAuthUrl,
      OWNER_SSO_API_URL: modern.ownerApiUrl,
      OWNER_SSO_TRANSPORT: transport,
    })
    atEnd(() => instance.signal('SIGKILL'))
    expect(await call(`${instance.url}/api/1/vehicles`)).toMatchObject({ status: 200 })
    const { host } = new URL(modern.authUrl)
    const wires = modern.requests.map((each) => `${each.host === host} ${each.tlsVersion} ${each.httpVersion}`)
    expect(new Set(wires)).toEqual(new Set(['true TLSv1.3 2', 'false TLSv1.3 1.1']))
  })
})
