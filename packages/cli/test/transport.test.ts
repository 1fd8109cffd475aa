import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Emulator, startEmulator } from '@owner-sso/emulator'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { credential, type Machine, newMachine } from './machine.ts'

const account = 'plain@example.com'
let emulator: Emulator
let machine: Machine
let env: NodeJS.ProcessEnv

beforeEach(async () => {
  emulator = await startEmulator({ tls: true, firewall: false })
  machine = newMachine(emulator)
  env = { OWNER_SSO_CA: machine.file('ca.pem', emulator.ca ?? ''), OWNER_SSO_CREDENTIAL: credential }
})
afterEach(async () => {
  machine.remove()
  await emulator.close()
})

function configure(config: object): void {
  const folder = join(machine.home, '.config', 'owner-sso')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config), { mode: 0o600 })
}

const login = (args: readonly string[] = [], more: NodeJS.ProcessEnv = {}) =>
  machine.run(['login', '--account', account, ...args], { env: { ...env, ...more } })
const tlsVersions = () => new Set(emulator.requests.map(({ tlsVersion }) => tlsVersion))

describe('the transport', () => {
  it('is the document’s', async () => {
    expect((await login()).code).toBe(0)
    expect(tlsVersions()).toEqual(new Set(['TLSv1.2']))
  })

  it.each([
    ['an option', ['--transport', 'modern'], {}, {}],
    ['its variable', [], { OWNER_SSO_TRANSPORT: '{"tls":{"maxVersion":"TLSv1.3"}}' }, {}],
    ['the config file', [], {}, { transport: 'modern' }],
    ['the config file, in parts', [], {}, { transport: { tls: { maxVersion: 'TLSv1.3' } } }],
    ['the option, before all others', ['--transport', 'modern'], { OWNER_SSO_TRANSPORT: 'document' }, {}],
  ])('is set by %s, for sign-in and refresh', async (_, args, variables, config) => {
    configure(config)
    expect(await login(args, variables)).toMatchObject({ code: 0 })
    expect(await machine.run(['refresh', ...args], { env: { ...env, ...variables } })).toMatchObject({ code: 0 })
    expect(tlsVersions()).toEqual(new Set(['TLSv1.3']))
  })

  it('is HTTP/2 where both sides have it', async () => {
    const service = await startEmulator({ tls: true, http2: true, firewall: false })
    const other = newMachine(service)
    try {
      const call = { env: { OWNER_SSO_CA: other.file('ca.pem', service.ca ?? ''), OWNER_SSO_TRANSPORT: 'modern' } }
      expect(await other.signIn(account, call)).toMatchObject({ code: 0 })
      expect(new Set(service.requests.map(({ httpVersion }) => httpVersion))).toEqual(new Set(['2']))
    } finally {
      other.remove()
      await service.close()
    }
  })

  it('that is none is rejected with the name of its setting', async () => {
    const refused = await login([], { OWNER_SSO_TRANSPORT: 'quic' })
    expect(refused.code).toBe(2)
    expect(refused.stderr).toMatch(/modern, .*document.*OWNER_SSO_TRANSPORT/su)
    const parts = await login(['--transport', '{"tls":{"minVersion":"TLSv1.3"}}'])
    expect(parts.code).toBe(2)
    expect(parts.stderr).toMatch(/minVersion.*--transport/su)
    const doctor = await machine.run(['doctor', '--transport', 'quic'], { env })
    expect(doctor.code).toBe(2)
    expect(doctor.stdout).toContain('transport must be')
  })
})

describe('the redirect address', () => {
  const redirectUri = 'owner-app://auth/callback'

  it.each([
    ['an option', ['--redirect-uri', redirectUri], {}, {}],
    ['its variable', [], { OWNER_SSO_REDIRECT_URI: redirectUri }, {}],
    ['the config file', [], {}, { redirectUri }],
  ])('is set by %s', async (_, args, variables, config) => {
    emulator.change({ redirectUris: [redirectUri] })
    configure(config)
    expect(await login(args, variables)).toMatchObject({ code: 0 })
    expect(emulator.requests[0]?.query['redirect_uri']).toBe(redirectUri)
  })

  it('that is none is rejected with the name of its setting', async () => {
    const refused = await login([], { OWNER_SSO_REDIRECT_URI: 'void' })
    expect(refused.code).toBe(2)
    expect(refused.stderr).toMatch(/redirectUri.*OWNER_SSO_REDIRECT_URI/isu)
  })

  it('may have an app’s own scheme: the command says what the address looks like, and takes it', async () => {
    const args = ['login', '--browser', '--account', account, '--redirect-uri', redirectUri]
    const told = await machine.run(args, {
      env: { ...env, DISPLAY: undefined, BROWSER: 'true' },
      input: `${redirectUri}?code=a\n`,
    })
    expect(told.stderr).toContain(`${redirectUri}?code=`)
    expect(told.stderr).not.toContain('page that does not exist')
  })
})
