/** `node dist/sign-in.js`: an account signs in, and every instance can call for it. */
import { randomBytes } from 'node:crypto'
import { startEmulator } from '@owner-sso/emulator'
import { expect, it } from '@jest/globals'
import { account, apiKey, atEnd, call, clientsFile, deploy, useRedis } from './deployment.ts'
import { type Program, type ProgramOptions, run, startInstance } from './instance.ts'
import { freePort } from '../../../tests/support/free-port.ts'
import { describeWithRedis } from '../../../tests/support/redis-server.ts'

const identity = 'mfa@example.com'
const credential = 'correct horse'

describeWithRedis('the sign-in', () => {
  useRedis()

  async function signIn(options: ProgramOptions): Promise<Program & { readonly code: unknown }> {
    const program = run('sign-in', options)
    const code = await program.exitCode
    expect(program.printed()).not.toContain(credential)
    return { ...program, code }
  }

  it('asks for what it needs, and puts the token set where the instances find it', async () => {
    const deployment = await deploy({ clients: [{ name: 'test', key: apiKey, accounts: [identity] }] })
    const { url } = deployment.instance(0)
    expect(await call(`${url}/api/1/vehicles`)).toMatchObject({ status: 401 })
    const emulated = deployment.emulator.accounts.find((each) => each.identity === identity)
    const factor = emulated?.factors[1]
    const passcode = emulated?.passcode(factor?.id) ?? ''

    const { code, printed } = await signIn({
      environment: deployment.environment,
      input: `${identity}\n${credential}\n2\n${passcode}\n`,
    })

    expect(printed()).toContain(`Passcode of ${factor?.name ?? ''}: `)
    expect(printed()).toMatch(/mfa@example\.com is signed in\.\n$/u)
    expect(code).toBe(0)
    expect(await call(`${url}/api/1/vehicles`)).toMatchObject({ status: 200 })
  })

  it('takes account and password from the environment as well, and any spelling of the account', async () => {
    const deployment = await deploy({ instances: 0 })
    const { environment } = deployment
    const { code } = await signIn({
      environment: { ...environment, OWNER_SSO_ACCOUNT: 'Regional@Example.com', OWNER_SSO_CREDENTIAL: credential },
    })
    expect(code).toBe(0)
    expect(await deployment.tokens.status('regional@example.com')).toMatchObject({ state: 'valid' })
  })

  it('seals what it stores where there is a key, and the instances open it', async () => {
    const sealedIdentity = 'sealed@example.com'
    const deployment = await deploy({
      emulator: { accounts: [account, sealedIdentity].map((name) => ({ identity: name, credential })) },
      clients: [{ name: 'test', key: apiKey, accounts: [sealedIdentity] }],
      environment: { OWNER_SSO_ENCRYPTION_KEY: randomBytes(32).toString('base64') },
    })
    const { code } = await signIn({
      environment: { ...deployment.environment, OWNER_SSO_ACCOUNT: sealedIdentity, OWNER_SSO_CREDENTIAL: credential },
    })
    expect(code).toBe(0)
    expect(await call(`${deployment.instance(0).url}/api/1/vehicles`)).toMatchObject({ status: 200 })
    const stored = JSON.stringify(await deployment.store.read(sealedIdentity))
    expect(stored).toContain('sealed')
    expect(stored).not.toContain('token')
  })

  it('goes over the transport that it is told, and so does the gateway', async () => {
    const { environment: usual } = await deploy({ instances: 0 })
    const name = 'modern@example.com'
    const modern = await startEmulator({
      tls: true,
      http2: true,
      strictness: 'lenient',
      accounts: [{ identity: name, credential }],
    })
    atEnd(() => modern.close())
    const environment = {
      ...usual,
      OWNER_SSO_AUTH_URL: modern.authUrl,
      OWNER_SSO_REGIONAL_AUTH_URLS: modern.regionalAuthUrl,
      OWNER_SSO_API_URL: modern.ownerApiUrl,
      OWNER_SSO_CLIENTS_FILE: clientsFile([{ name: 'test', key: apiKey, accounts: [name] }]),
      OWNER_SSO_TRANSPORT: JSON.stringify({
        tls: { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3', ca: modern.ca },
        http2: true,
      }),
    }
    const { code } = await signIn({
      environment: { ...environment, OWNER_SSO_ACCOUNT: name, OWNER_SSO_CREDENTIAL: credential },
    })
    expect(code).toBe(0)
    const instance = await startInstance(environment)
    atEnd(() => instance.signal('SIGKILL'))
    expect(await call(`${instance.url}/api/1/vehicles`)).toMatchObject({ status: 200 })
    const { host } = new URL(modern.authUrl)
    const wires = modern.requests.map((each) => `${each.host === host} ${each.tlsVersion} ${each.httpVersion}`)
    expect(new Set(wires)).toEqual(new Set(['true TLSv1.3 2', 'false TLSv1.3 1.1']))
  })

  it('says what went wrong, and stores nothing', async () => {
    const deployment = await deploy({ instances: 0 })
    const { environment } = deployment
    const wrong = await signIn({ environment, input: 'regional@example.com\nwrong horse\n' })
    expect(wrong.code).toBe(1)
    expect(wrong.printed()).toMatch(/Nobody was signed in: .+\n$/u)
    expect(wrong.printed()).not.toContain('wrong horse')
    const unanswered = await signIn({ environment, input: 'regional@example.com\n' })
    expect(unanswered.code).toBe(1)
    expect(unanswered.printed()).toContain('The input ended before all questions were answered.')
    const unset = await signIn({})
    expect(unset.code).toBe(2)
    expect(unset.printed()).toContain('OWNER_SSO_AUTH_URL is not set')
  })

  it('heeds the firewall’s block that another sign-in has met: the instances refresh nothing, the next sends nothing', async () => {
    const deployment = await deploy({ instances: 0 })
    deployment.emulator.once('login-page', { firewall: true })
    const input = { environment: deployment.environment, input: `${identity}\n${credential}\n` }
    expect((await signIn(input)).code).toBe(1)
    const before = deployment.emulator.requests.length
    const next = await signIn(input)
    expect(next.code).toBe(1)
    expect(next.printed()).toContain('firewall')
    await expect(deployment.tokens.refresh(account)).rejects.toMatchObject({ code: 'ERR_SSO_FIREWALL_CHALLENGE' })
    expect(deployment.emulator.requests.length).toBe(before)
  })

  it('sends no password while Redis can’t be reached', async () => {
    const deployment = await deploy({ instances: 0 })
    const { credentialChecks } = deployment.emulator.counters
    const { code, printed } = await signIn({
      environment: { ...deployment.environment, OWNER_SSO_STORE: `redis://127.0.0.1:${await freePort()}` },
      input: `${identity}\n${credential}\n`,
    })
    expect(code).toBe(1)
    expect(printed()).toContain('Redis')
    expect(deployment.emulator.counters.credentialChecks).toBe(credentialChecks)
  })
})
