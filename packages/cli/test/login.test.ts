import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { useEmulator } from '@owner-sso/emulator/jest'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { credential, type Machine, newMachine } from './machine.ts'

const totpSecret = 'JBSWY3DPEHPK3PXP'
const emulator = useEmulator({
  accounts: [
    { identity: 'ann@example.com', credential },
    { identity: 'mfa@example.com', credential, totpSecret },
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
