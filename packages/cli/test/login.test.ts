import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { useEmulator } from '@owner-sso/emulator/jest'
import { describe, expect, it } from '@jest/globals'
import { credential, useMachine } from './machine.ts'
import { accountsAt } from './signed-in.ts'

const totpSecret = 'JBSWY3DPEHPK3PXP'
const emulator = useEmulator({
  accounts: [
    { identity: 'ann@example.com', credential },
    { identity: 'mfa@example.com', credential, totpSecret },
    { identity: 'two@example.com', credential, factors: ['Phone', 'Tablet'].map((name) => ({ name, totpSecret })) },
    { identity: 'far@example.com', credential, region: 'regional' },
    { identity: 'bot@example.com', credential, captcha: true },
    { identity: 'locked@example.com', credential, locked: true },
  ],
})
const machine = useMachine(emulator)

describe('an unattended login', () => {
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

  it('keeps the tokens in a folder that nobody else can look into', async () => {
    await machine.signIn('ann@example.com')
    const paths = ['', ...readdirSync(machine.tokensFolder, { recursive: true }).map(String)]
    const modes = paths.map((path) => statSync(join(machine.tokensFolder, path)).mode & 0o777)
    expect(new Set(modes)).toEqual(new Set([0o600, 0o700]))
  })

  it('finds out that its home can’t be written before a password travels', async () => {
    const file = machine.file('no-folder', '')
    const { code, stderr } = await machine.signIn('ann@example.com', { env: { HOME: file } })
    expect(code).toBe(6)
    expect(stderr).toContain('--store')
    expect(emulator.requests).toEqual([])
  })
})

describe('an unattended login that fails', () => {
  const mfa = 'mfa@example.com'
  const secret = { OWNER_SSO_TOTP_SECRET: totpSecret }
  const otherSecret = { OWNER_SSO_TOTP_SECRET: 'KRSXG5CTMVRXEZLU' }

  it.each<[string, string, NodeJS.ProcessEnv, number, number, string]>([
    ['with a wrong password', 'ann@example.com', { OWNER_SSO_CREDENTIAL: 'wrong' }, 4, 1, 'Check both'],
    ['for a locked account', 'locked@example.com', {}, 4, 1, 'Unlock it'],
    ['for one that gets a captcha', 'bot@example.com', {}, 3, 0, 'owner-sso login --browser'],
    ['in a region that is not allowed', 'far@example.com', { OWNER_SSO_REGIONAL_AUTH_URLS: '' }, 2, 0, 'allow it'],
    ['without a passcode', mfa, {}, 2, 1, '--totp-secret-file'],
    ['with the secret of another device', mfa, otherSecret, 4, 1, 'the device (--factor)'],
    ['with a secret that is none', mfa, { OWNER_SSO_TOTP_SECRET: 'hidden!' }, 2, 0, 'base32'],
    ['with one of several devices to choose', 'two@example.com', secret, 2, 1, 'one of: Phone, Tablet'],
    ['without a service', 'ann@example.com', { OWNER_SSO_AUTH_URL: 'http://127.0.0.1:1' }, 7, 0, 'owner-sso doctor'],
    ['without a password', 'ann@example.com', { OWNER_SSO_CREDENTIAL: '' }, 2, 0, '--credential-file PATH'],
    ['without an account', '', {}, 2, 0, '--account E-MAIL'],
  ])('%s: tries once, stores nothing, and says what to do', async (_what, account, env, code, posts, next) => {
    const { stderr, ...ended } = await machine.signIn(account, { env })
    expect({ ...ended, stderr }).toEqual({ code, stdout: '', stderr: expect.stringContaining(next) })
    expect(stderr).not.toMatch(/hidden|wrong(?! e-mail)/u)
    expect(emulator.counters.formPosts).toBe(posts)
    expect(await accountsAt(machine)).toEqual([])
  })

  it('at the firewall: says so, sends nothing more while it blocks, and does not call the password wrong', async () => {
    emulator.firewall.block()
    for (const sent of [1, 1]) {
      const { code, stderr } = await machine.signIn('ann@example.com')
      expect({ code, stderr }).toMatchObject({ code: 5, stderr: expect.stringContaining('was not judged') })
      expect(emulator.requests).toHaveLength(sent)
    }
  })
})

it('a file of a password may end in a line break, and must be this user’s alone', async () => {
  const path = machine.file('password.txt', `${credential}\r\n`)
  const args = ['login', '--account', ' Ann@Example.com ', '--credential-file', path]
  expect((await machine.run(args)).code).toBe(0)
  expect(await accountsAt(machine)).toEqual(['ann@example.com'])
  chmodSync(path, 0o640)
  expect(await machine.run(args)).toMatchObject({ stderr: expect.stringContaining('chmod 600') })
})

describe('a password as tools write it', () => {
  const ann = ['login', '--account', 'ann@example.com']
  const mark = '\uFEFF'
  const latin1 = Buffer.from('pässword', 'latin1')
  const utf16 = Buffer.from(`${mark}${credential}\r\n`, 'utf16le')
  const fromFile = [...ann, '--credential-file', 'password.txt']
  const fromInput = [...ann, '--credential-file', '-']

  it.each<[string, readonly string[], string | Buffer, NodeJS.ProcessEnv, string]>([
    ['a file with a byte order mark', fromFile, `${mark}${credential}\r\n`, {}, 'Signed in'],
    ['the same on standard input', fromInput, `${mark}${credential}\n\n`, {}, 'Signed in'],
    ['a variable that ends in a line break', ann, '', { OWNER_SSO_CREDENTIAL: `${credential}\n` }, 'Signed in'],
    ['a file in UTF-16', fromFile, utf16, {}, 'password.txt is UTF-16'],
    ['the same on standard input', fromInput, utf16, {}, 'Standard input is UTF-16'],
    ['a file in Latin-1', fromFile, latin1, {}, 'password.txt is not UTF-8'],
    ['a variable in Latin-1', ann, '', { OWNER_SSO_CREDENTIAL: 'p\uFFFDssword' }, 'CREDENTIAL is not UTF-8'],
    ['a file of two lines', fromFile, `${credential}\nann`, {}, 'password.txt has several lines'],
    [
      'a variable of two lines',
      ann,
      '',
      { OWNER_SSO_CREDENTIAL: `${credential}\nann` },
      'CREDENTIAL has several lines',
    ],
    ['a file with line breaks alone', fromFile, '\r\n\n', {}, 'password.txt is empty'],
  ])('%s: is understood, or rejected before a request', async (_what, args, content, env, told) => {
    writeFileSync(machine.file('password.txt', ''), content)
    const { code, stderr } = await machine.run(args, { input: content, env })
    expect({ code, stderr }).toEqual({ code: told === 'Signed in' ? 0 : 2, stderr: expect.stringContaining(told) })
    expect(stderr).not.toContain(credential)
    expect(emulator.counters.loginPages).toBe(told === 'Signed in' ? 1 : 0)
  })

  it('quotation marks and spaces are kept, and a note tells of them', async () => {
    const { code, stderr } = await machine.signIn('ann@example.com', {
      env: { OWNER_SSO_CREDENTIAL: `"${credential}" ` },
    })
    expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringMatching(/with a space, which counts/u) })
    const quoted = await machine.signIn('ann@example.com', { env: { OWNER_SSO_CREDENTIAL: `'${credential}'` } })
    expect(quoted.stderr).toMatch(/^OWNER_SSO_CREDENTIAL has quotation marks around it, which count\.$/mu)
  })

  it.each([
    [['login'], { OWNER_SSO_ACCOUNT: '"ann@example.com"' }, 'write OWNER_SSO_ACCOUNT=ann@example.com'],
    [['login', '--account', '“ann@example.com”'], {}, 'write --account=ann@example.com'],
    [
      ['login', '--account', 'ann@example.com'],
      { OWNER_SSO_STORE: "'redis://:secret@host'" },
      'OWNER_SSO_STORE has quotation',
    ],
  ])('%j with %j: quotation marks around another setting are rejected before a request', async (args, env, told) => {
    const { code, stderr } = await machine.run(args, { env: { OWNER_SSO_CREDENTIAL: credential, ...env } })
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(told) })
    expect(stderr).not.toContain('secret')
    expect(emulator.requests).toEqual([])
  })
})

it('two logins of one account at once both succeed, and leave one usable record', async () => {
  const both = await Promise.all([machine.signIn('ann@example.com'), machine.signIn('ann@example.com')])
  expect(both.map(({ code }) => code)).toEqual([0, 0])
  const { stdout } = await machine.run(['token'])
  const headers = { authorization: `Bearer ${stdout.trim()}` }
  expect((await fetch(`${emulator.ownerApiUrl}/api/1/vehicles`, { headers })).status).toBe(200)
})

it('where another login has used a passcode, the next one is sent, and never the same again', async () => {
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
