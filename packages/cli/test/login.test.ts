import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { useEmulator } from '@owner-sso/emulator/jest'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { credential, type Machine, newMachine } from './machine.ts'

const totpSecret = 'JBSWY3DPEHPK3PXP'
const emulator = useEmulator({
  accounts: [
    { identity: 'ann@example.com', credential },
    { identity: 'mfa@example.com', credential, totpSecret },
    {
      identity: 'two@example.com',
      credential,
      factors: [
        { name: 'Phone', totpSecret: 'KRSXG5CTMVRXEZLU' },
        { name: 'Tablet', totpSecret },
      ],
    },
    { identity: 'far@example.com', credential, region: 'regional' },
    { identity: 'bot@example.com', credential, captcha: true },
    { identity: 'locked@example.com', credential, locked: true },
  ],
})
let machine: Machine

beforeEach(async () => {
  machine = newMachine(emulator)
})
afterEach(async () => {
  machine.remove()
})

describe('a login that nobody attends', () => {
  it('takes the password from standard input, and says nothing on standard output', async () => {
    const { code, stdout, stderr } = await machine.run(
      ['login', '--account', 'ann@example.com', '--credential-file', '-'],
      { input: `${credential}\n` },
    )
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toMatch(/^Signed in as ann@example\.com: the access token is valid for 7 h 5\d min\.\n$/u)
    expect(emulator.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /oauth2/v3/authorize',
      'POST /oauth2/v3/authorize',
      'POST /oauth2/v3/token',
    ])
  })

  it('takes the password from a file or the environment, and the e-mail from either', async () => {
    const file = machine.file('password', `${credential}\n`)
    const fromFile = await machine.run(['login', '--credential-file', file], {
      env: { OWNER_SSO_ACCOUNT: ' Ann@Example.com ' },
    })
    expect(fromFile.code).toBe(0)
    expect(fromFile.stderr).toContain('Signed in as ann@example.com')
    expect((await machine.signIn('ann@example.com')).code).toBe(0)
  })

  it('keeps the tokens in a folder that nobody else can look into', async () => {
    await machine.signIn('ann@example.com')
    const paths = ['', ...readdirSync(machine.tokensFolder, { recursive: true }).map(String)]
    const modes = paths.map((path) => statSync(join(machine.tokensFolder, path)).mode & 0o777)
    expect(new Set(modes)).toEqual(new Set([0o600, 0o700]))
  })

  it('follows an account to its region', async () => {
    expect((await machine.signIn('far@example.com')).code).toBe(0)
    const { stdout } = await machine.run(['status', '--json'])
    expect(JSON.parse(stdout).accounts[0].auth_url).toBe(emulator.regionalAuthUrl)
  })

  it('says what to allow where the region is not allowed, and sends no password', async () => {
    const { code, stderr } = await machine.signIn('far@example.com', { env: { OWNER_SSO_REGIONAL_AUTH_URLS: '' } })
    expect(code).toBe(2)
    expect(stderr).toContain(`--regional-auth-url ${emulator.regionalAuthUrl}`)
    expect(emulator.counters.formPosts).toBe(0)
  })

  it('makes passcodes from a secret in a file, in any spelling, or from an otpauth address', async () => {
    const file = machine.file('secret', 'jbsw y3dp ehpk 3pxp\n')
    const args = ['--totp-secret-file', file]
    const { code } = await machine.run(['login', '--account', 'mfa@example.com', ...args], {
      env: { OWNER_SSO_CREDENTIAL: credential },
    })
    expect(code).toBe(0)
    expect(emulator.counters.passcodeChecks).toBe(1)
    const address = `otpauth://totp/x?secret=${totpSecret}`
    expect((await machine.signIn('two@example.com', { env: { OWNER_SSO_TOTP_SECRET: address } })).code).toBe(2)
    const named = await machine.run(['login', '--account', 'two@example.com', '--factor', 'Tablet'], {
      env: { OWNER_SSO_CREDENTIAL: credential, OWNER_SSO_TOTP_SECRET: address },
    })
    expect(named.code).toBe(0)
  })

  it('asks which factor where there are several, and names them', async () => {
    const { code, stderr } = await machine.signIn('two@example.com', { env: { OWNER_SSO_TOTP_SECRET: totpSecret } })
    expect(code).toBe(2)
    expect(stderr).toContain('Give --factor, one of: Phone, Tablet.')
    expect(emulator.counters.passcodeChecks).toBe(0)
  })

  it('prints what it did as JSON', async () => {
    const { stdout } = await machine.run(['login', '--account', 'ann@example.com', '--json'], {
      env: { OWNER_SSO_CREDENTIAL: credential },
    })
    expect(JSON.parse(stdout)).toMatchObject({
      account: 'ann@example.com',
      state: 'valid',
      auth_url: emulator.authUrl,
      store: `file:${machine.tokensFolder}`,
    })
  })
})

describe('a login that can’t be', () => {
  it.each([
    ['wrong password', 'ann@example.com', 'wrong', 4, 'run owner-sso login again', 2],
    ['unknown account', 'nobody@example.com', credential, 4, 'run owner-sso login again', 2],
    ['locked account', 'locked@example.com', credential, 4, 'Unlock it on the service’s website', 2],
    ['captcha', 'bot@example.com', credential, 3, 'owner-sso login --browser', 1],
    ['second factor without a secret', 'mfa@example.com', credential, 2, '--totp-secret-file PATH', 4],
  ])('%s: one try, an exit code, and what to do next', async (_name, account, password, code, next, requests) => {
    const result = await machine.signIn(account, { env: { OWNER_SSO_CREDENTIAL: password } })
    expect(result).toMatchObject({ code, stdout: '' })
    expect(result.stderr).toContain(next)
    expect(emulator.requests).toHaveLength(requests)
    expect(result.stderr).not.toContain(password)
  })

  it.each([
    ['a secret that is none', { OWNER_SSO_TOTP_SECRET: 'not base32!' }, []],
    ['a secret’s file that is not there', {}, ['--totp-secret-file', 'nowhere']],
  ])('%s: nothing is sent', async (_name, env, args) => {
    const { code } = await machine.run(['login', '--account', 'mfa@example.com', ...args], {
      env: { OWNER_SSO_CREDENTIAL: credential, ...env },
    })
    expect(code).toBe(2)
    expect(emulator.requests).toEqual([])
  })

  it('wrong secret: one passcode is sent, and the clock is suspected', async () => {
    const { code, stderr } = await machine.signIn('mfa@example.com', {
      env: { OWNER_SSO_TOTP_SECRET: 'KRSXG5CTMVRXEZLU' },
    })
    expect(code).toBe(4)
    expect(stderr).toContain('owner-sso doctor')
    expect(emulator.counters.passcodeChecks).toBe(1)
  })

  it('firewall: its own exit code, and when to come back', async () => {
    emulator.once('login-page', { firewall: true })
    const { code, stderr } = await machine.signIn('ann@example.com')
    expect(code).toBe(5)
    expect(stderr).toMatch(/Try again in 1[5-8] min, at /u)
    // Up to a fifth longer than the page says. The next one knows it from the store, and leaves the service alone.
    expect((await machine.signIn('ann@example.com')).code).toBe(5)
    expect(emulator.requests).toHaveLength(1)
  })

  it('no service there: the network is to blame', async () => {
    const { code, stderr } = await machine.signIn('ann@example.com', {
      env: { OWNER_SSO_AUTH_URL: 'http://127.0.0.1:1' },
    })
    expect(code).toBe(7)
    expect(stderr).toContain('owner-sso doctor')
  })

  it('no terminal: says how to give what is missing, and sends nothing', async () => {
    const noPassword = await machine.run(['login', '--account', 'ann@example.com'])
    expect(noPassword.code).toBe(2)
    expect(noPassword.stderr).toContain('--credential-file PATH')
    const noAccount = await machine.run(['login'])
    expect(noAccount.code).toBe(2)
    expect(noAccount.stderr).toContain('--account')
    const noService = await machine.run(['login'], { env: { OWNER_SSO_AUTH_URL: '' } })
    expect(noService.code).toBe(2)
    expect(noService.stderr).toContain('--auth-url')
    expect(emulator.requests).toEqual([])
  })

  it('a home that can’t be written: found out before a password travels', async () => {
    const file = machine.file('no-folder', '')
    const { code, stderr } = await machine.signIn('ann@example.com', { env: { HOME: file } })
    expect(code).toBe(6)
    expect(stderr).toContain('--store')
    expect(emulator.requests).toEqual([])
  })

  it('a store that is down: the same', async () => {
    const { code, stderr } = await machine.signIn('ann@example.com', {
      env: { OWNER_SSO_STORE: 'redis://user:hush@127.0.0.1:1' },
    })
    expect(code).toBe(6)
    expect(stderr).toContain('Redis at 127.0.0.1:1 can’t be reached')
    expect(stderr).not.toContain('hush')
    expect(emulator.requests).toEqual([])
  })

  it('tells of a failure in one line of JSON where that is wanted', async () => {
    const { stderr } = await machine.run(['login', '--account', 'ann@example.com', '--json'], {
      env: { OWNER_SSO_CREDENTIAL: 'wrong' },
    })
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'ERR_SSO_INVALID_CREDENTIALS', exitCode: 4 } })
    expect(stderr.trim().split('\n')).toHaveLength(1)
  })

  it('tells that others can read a password file', async () => {
    const file = join(machine.home, 'loose')
    writeFileSync(file, credential, { mode: 0o644 })
    const { stderr } = await machine.run(['login', '--account', 'ann@example.com', '--credential-file', file])
    expect(stderr).toContain(`run chmod 600 on it`)
  })
})

it('two logins of one account at once both succeed, and leave one usable record', async () => {
  const both = await Promise.all([machine.signIn('ann@example.com'), machine.signIn('ann@example.com')])
  expect(both.map(({ code }) => code)).toEqual([0, 0])
  const { stdout } = await machine.run(['token'])
  const headers = { authorization: `Bearer ${stdout.trim()}` }
  expect((await fetch(`${emulator.ownerApiUrl}/api/1/vehicles`, { headers })).status).toBe(200)
})

it('a passcode that another login has used is followed by the next one, and never sent again', async () => {
  const env = { OWNER_SSO_TOTP_SECRET: totpSecret }
  const now = (): number => Date.now() / 1000
  const end = (Math.floor(now() / 30) + 2) * 30
  // Everybody's clock is in the time step that ends then: the first login's has 25 s left, the second's 10.
  emulator.clock.advance(end - 25 - now())
  expect((await machine.signIn('mfa@example.com', { env, ahead: end - 25 - now() })).code).toBe(0)
  const { code, stderr } = await machine.signIn('mfa@example.com', { env, ahead: end - 10 - now() })
  expect(code).toBe(0)
  expect(stderr).toContain('This passcode was used before.')
  expect(emulator.counters.passcodeChecks).toBe(3)
}, 60_000)

it('a login into memory leaves nothing behind', async () => {
  const { code } = await machine.run(['login', '--account', 'ann@example.com', '--store', 'memory:'], {
    env: { OWNER_SSO_CREDENTIAL: credential },
  })
  expect(code).toBe(0)
  expect(existsSync(machine.tokensFolder)).toBe(false)
})
