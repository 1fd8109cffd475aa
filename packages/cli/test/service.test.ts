/** The kind of service: one word in every place that takes settings, found out by `setup`, looked after by `doctor`. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { useEmulator } from '@owner-sso/emulator/jest'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { credential, useMachine } from './machine.ts'
import { describeInTerminal, enter, inTerminal } from './terminal.ts'

const totpSecret = 'JBSWY3DPEHPK3PXP'
const emulator = useEmulator({
  service: 'current',
  accounts: [
    { identity: 'plain@example.com', credential },
    { identity: 'mfa@example.com', credential, totpSecret },
  ],
})
const machine = useMachine(emulator)
const account = 'plain@example.com'

describe("a service of today's kind", () => {
  it('is signed in to and refreshed with --service current alone', async () => {
    const signedIn = await machine.run(['login', '--account', account, '--service', 'current'], {
      env: { OWNER_SSO_CREDENTIAL: credential },
    })
    expect(signedIn).toMatchObject({ code: 0 })
    expect(await machine.run(['refresh'], { env: { OWNER_SSO_SERVICE: 'current' } })).toMatchObject({ code: 0 })
  })

  it('is signed in to with a second factor, and lists its vehicles by the path of its kind', async () => {
    const password = { OWNER_SSO_CREDENTIAL: credential, OWNER_SSO_TOTP_SECRET: totpSecret }
    const env = { OWNER_SSO_SERVICE: 'current', ...password }
    expect(await machine.run(['login', '--account', 'mfa@example.com'], { env })).toMatchObject({ code: 0 })
    const { stdout } = await machine.run(['token', '--json'], { env })
    const { access_token, expires_at } = JSON.parse(stdout)
    expect(expires_at).toBeGreaterThan(Date.now() / 1000)
    const headers = { authorization: `Bearer ${access_token}` }
    expect((await fetch(`${emulator.ownerApiUrl}/api/1/products`, { headers })).status).toBe(200)
  })

  it.each([true, false])(
    'takes tokens of another client, with an access token (%s) beside the refresh token',
    async (isKept) => {
      const { access_token, refresh_token } = await emulator.issueTokens(account)
      const cache = machine.file('cache', JSON.stringify(isKept ? { access_token, refresh_token } : { refresh_token }))
      const env = { OWNER_SSO_SERVICE: 'current' }
      expect(await machine.run(['import', cache, '--account', account, '--yes'], { env })).toMatchObject({ code: 0 })
      const { stdout } = await machine.run(['token'], { env })
      expect(stdout.trim() === access_token).toBe(isKept)
      expect(emulator.counters.refreshRequests).toBe(isKept ? 0 : 1)
      const headers = { authorization: `Bearer ${stdout.trim()}` }
      expect((await fetch(`${emulator.ownerApiUrl}/api/1/products`, { headers })).status).toBe(200)
    },
  )

  it('is told by doctor where another kind is set, with the word that helps', async () => {
    const wrong = await machine.run(['doctor'])
    expect(wrong.code).toBe(2)
    expect(wrong.stdout).toContain('The login page does not answer to document.')
    expect(wrong.stdout).toContain('OWNER_SSO_SERVICE=current')
    expect((await machine.run(['doctor', '--service', 'current'])).stdout).toContain('current (--service): its login')
    const { stdout } = await machine.run(['doctor'], { env: { OWNER_SSO_REDIRECT_URI: 'mine://here' } })
    expect(stdout).toContain('The login page answers to none of document, current, registered.')
    expect(emulator.counters).toMatchObject({ formPosts: 0, credentialChecks: 0 })
  })

  it('fails a login of the other kind with what to set, before the password is sent', async () => {
    const failed = await machine.run(['login', '--account', account], { env: { OWNER_SSO_CREDENTIAL: credential } })
    expect(failed.code).not.toBe(0)
    expect(failed.stderr).toContain("set service ('document', 'current')")
    expect(emulator.counters).toMatchObject({ formPosts: 0 })
  })
})

describeInTerminal('owner-sso setup', () => {
  it.each(['current', 'document'] as const)('finds out that the service is of the kind %s', async (service) => {
    emulator.change({ service })
    const unset = { OWNER_SSO_REGIONAL_AUTH_URLS: '', OWNER_SSO_API_URL: '' }
    const terminal = inTerminal(machine, ['setup'], unset)
    await terminal.shows('Address of the SSO service')
    terminal.type(enter)
    await terminal.shows(`kind of service`)
    for (const question of [
      'Other instances',
      'Address of the owner API',
      'Where tokens live',
      'E-mail of the account',
    ]) {
      await terminal.shows(question)
      terminal.type(enter)
    }
    await terminal.shows('Your settings are in')
    expect((await terminal.end()).code).toBe(0)
    const config: object = JSON.parse(readFileSync(join(machine.home, '.config', 'owner-sso', 'config.json'), 'utf8'))
    expect(config).toEqual({ authUrl: emulator.authUrl, ...(service === 'current' && { service }) })
    expect(emulator.counters).toMatchObject({ loginPages: 1, formPosts: 0 })
  })
})

describe('a service whose token endpoint is on another host than its login page', () => {
  const remote = useEmulator({ tokenEndpointAt: 'port' })
  const computer = useMachine(remote)
  let env: NodeJS.ProcessEnv

  beforeEach(() => {
    const { authUrl, tokenUrl, regionalAuthUrl, regionalTokenUrl } = remote
    env = { OWNER_SSO_TOKEN_URL: JSON.stringify({ [authUrl]: tokenUrl, [regionalAuthUrl]: regionalTokenUrl }) }
  })

  it.each(['plain@example.com', 'regional@example.com'])('signs %s in there, and refreshes', async (name) => {
    expect(await computer.signIn(name, { env })).toMatchObject({ code: 0 })
    expect(await computer.run(['refresh'], { env })).toMatchObject({ code: 0 })
    expect(remote.counters).toMatchObject({ codeExchanges: 1, tokenRefreshes: 1 })
  })

  it('doctor checks it, says which setting names it, and tells of a block there', async () => {
    const { code, stdout } = await computer.run(['doctor'], { env })
    expect(code).toBe(0)
    expect(stdout).toMatch(/tokenUrl +.*\(OWNER_SSO_TOKEN_URL\)/u)
    expect(stdout.match(/token endpoint +reached/gu)).toHaveLength(2)

    expect(await computer.signIn('plain@example.com', { env })).toMatchObject({ code: 0 })
    remote.once('refresh', { firewall: true })
    const refused = await computer.run(['refresh'], { env: { ...env, TZ: 'Asia/Tokyo' } })
    expect(refused).toMatchObject({ code: 5, stderr: expect.not.stringContaining('password') })
    expect(refused.stderr).toMatch(/Try again in 1\d min, at (?:\d{4}-\d\d-\d\d )?\d\d:\d\d GMT\+9\./u)
    const blocked = await computer.run(['doctor'], { env })
    expect(blocked.code).toBe(5)
    expect(blocked.stdout).toContain(`The firewall of ${new URL(remote.tokenUrl).host} blocks this machine`)
  })
})
