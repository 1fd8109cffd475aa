import { describe, expect, it, beforeAll } from '@jest/globals'
import { useEmulator, type TestHooks } from '../src/jest.ts'
import { Client, demoCredential } from './client.ts'

const emulator = useEmulator({
  mfaAt: 'form-submission',
  firewall: { maxRequests: 40 },
  accounts: [
    { identity: 'plain@example.com', credential: demoCredential },
    {
      identity: 'mfa@example.com',
      credential: demoCredential,
      totpSecret: 'JBSWY3DPEHPK3PXP',
      backupCodes: ['BACKUP001'],
    },
  ],
})
const addresses: string[] = []

describe('useEmulator', () => {
  let accessToken = ''
  beforeAll(async () => {
    accessToken = (await emulator.issueTokens('plain@example.com')).access_token
  })

  it.each(['one test', 'the next one'])('is as new in %s, at the same address', async () => {
    addresses.push(emulator.authUrl)
    expect(new Set(addresses).size).toBe(1)
    expect(emulator.counters).toMatchObject({ loginPages: 0, passcodeChecks: 0, challenges: 0 })
    expect(emulator.requests).toEqual([])
    expect(emulator.clock.now()).toBeCloseTo(Date.now() / 1000, -1)
    const account = emulator.account('mfa@example.com')
    expect(account.backupCodes).toEqual(['BACKUP001'])

    const client = new Client(emulator)
    const step = await client.reachPasscode(account.identity)
    expect((await client.verify(step, account)).text).toContain('"valid":true')
    await client.json('/oauth2/v3/authorize/mfa/backupcodes/attempt', {
      transaction_id: step.transaction_id,
      backup_code: 'BACKUP001',
    })
    expect(account.backupCodes).toEqual([])

    emulator.clock.advance(3600)
    emulator.always('login-page', { status: 503 })
    emulator.once('token', { status: 503 })
    for (let request = 0; request < 41; request += 1) await client.exchange('none')
    expect((await client.exchange('none')).status).toBe(403)
  })

  it('keeps tokens that a hook before the test got', async () => {
    const headers = { authorization: `Bearer ${accessToken}` }
    expect((await fetch(`${emulator.ownerApiUrl}/api/1/vehicles`, { headers })).status).toBe(200)
  })

  it('works with the hooks of any runner, and throws where it is used outside a test or hook', async () => {
    const hooks: { beforeAll?: () => Promise<void>; beforeEach?: () => void; afterAll?: () => Promise<void> } = {}
    const runner: TestHooks = {
      beforeAll: (run) => (hooks.beforeAll = run),
      beforeEach: (run) => (hooks.beforeEach = run),
      afterAll: (run) => (hooks.afterAll = run),
    }
    const other = useEmulator({}, runner)
    expect(() => other.authUrl).toThrow(/inside a test or a hook/u)
    await hooks.beforeAll?.()
    hooks.beforeEach?.()
    expect((await fetch(`${other.authUrl}/void/callback`)).status).toBe(404)
    expect('authUrl' in other).toBe(true)
    const { authUrl } = other
    await hooks.afterAll?.()
    await expect(fetch(authUrl)).rejects.toThrow('fetch failed')
  })

  it('reports each function that failed in a test once, after that test', async () => {
    const hooks: { beforeAll?: () => Promise<void>; afterEach?: () => void; afterAll?: () => Promise<void> } = {}
    const other = useEmulator(
      {},
      {
        beforeAll: (run) => (hooks.beforeAll = run),
        beforeEach: () => undefined,
        afterEach: (run) => (hooks.afterEach = run),
        afterAll: (run) => (hooks.afterAll = run),
      },
    )
    hooks.afterEach?.()
    await hooks.beforeAll?.()
    for (const reason of ['first', 'second']) {
      other.once('token', () => {
        throw new Error(reason)
      })
      expect((await fetch(`${other.authUrl}/oauth2/v3/token`, { method: 'POST' })).status).toBe(500)
    }
    expect(hooks.afterEach).toThrow(/Error: first\n.*Error: second$/u)
    expect(hooks.afterEach).not.toThrow()
    await hooks.afterAll?.()
  })
})
