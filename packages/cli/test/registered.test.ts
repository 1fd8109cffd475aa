/** A registered application at the command line: its secret in a file or in the keyring, and a sign-in on the service's own page. */
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { useEmulator } from '@owner-sso/emulator/jest'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type DesktopSession, describeWithKeyring, startDesktopSession } from './desktop-session.ts'
import { describeWithPrograms } from '../../../tests/support/programs.ts'
import { type CallOptions, credential, type Ended, ended, useMachine } from './machine.ts'
import { describeInTerminal, enter, inTerminal } from './terminal.ts'

const [clientId, clientSecret] = ['app-of-ann', 'ta-secret.of ann']
const accounts = ['plain@example.com', 'mfa@example.com']
const [account = ''] = accounts
const emulator = useEmulator({
  service: 'registered',
  clientId,
  clientSecret,
  allowBrowsers: true,
  accounts: accounts.map((identity) => ({ identity, credential })),
})
const machine = useMachine(emulator)

/** All that is set but the secret. */
const application = (): NodeJS.ProcessEnv => ({
  OWNER_SSO_REGIONAL_AUTH_URLS: '',
  OWNER_SSO_SERVICE: 'registered',
  OWNER_SSO_TOKEN_URL: emulator.tokenUrl,
  OWNER_SSO_CLIENT_ID: clientId,
  OWNER_SSO_AUDIENCE: emulator.ownerApiUrl,
  OWNER_SSO_REDIRECT_URI: 'https://app.example.com/callback',
})

const withFile = (secret = clientSecret): NodeJS.ProcessEnv => ({
  ...application(),
  OWNER_SSO_CLIENT_SECRET_FILE: machine.file('client-secret', `${secret}\n`),
})

/** A person opens the address that the command prints, and sends the one that they end on. */
async function paste(env: NodeJS.ProcessEnv, name = account): Promise<Ended> {
  const child = machine.start(['login', '--paste', '--account', name], { env, input: '' })
  const end = ended(child)
  if (child.stderr === null) throw new Error('It has no standard error.')
  const lines = createInterface({ input: child.stderr })
  lines.on('line', (line) => {
    if (!line.startsWith(emulator.authUrl)) return
    void emulator.signInByHand(line).then((address) => child.stdin?.end(`${address}\n`))
  })
  return end
}

describe('a registered application', () => {
  it('signs in on the service’s page, with its secret in a file, refreshes, and shows the secret nowhere', async () => {
    const env = withFile()
    const signedIn = await paste(env)
    expect(signedIn).toMatchObject({ code: 0, stderr: expect.stringContaining(`Signed in as ${account}`) })
    const refreshed = await machine.run(['refresh'], { env })
    expect(refreshed).toMatchObject({ code: 0 })
    const { stdout } = await machine.run(['token'], { env })
    const headers = { authorization: `Bearer ${stdout.trim()}` }
    expect((await fetch(`${emulator.ownerApiUrl}/api/1/vehicles`, { headers })).status).toBe(200)
    expect(emulator.counters).toMatchObject({ codeExchanges: 1, refreshRequests: 1, tokenRefreshes: 1 })
    const doctor = await machine.run(['doctor'], { env })
    expect(doctor).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('registered (OWNER_SSO_SERVICE): its login'),
    })
    const live = await machine.run(['doctor', '--live', '--yes'], { env })
    expect(live.stdout).toContain('the owner API accepts the token (200)')
    expect(JSON.stringify([signedIn, refreshed, doctor, live])).not.toContain(clientSecret)
  })

  it('takes all of it from the config file as well', async () => {
    const { OWNER_SSO_CLIENT_SECRET_FILE: clientSecretFile } = withFile()
    const redirectUri = 'https://app.example.com/callback'
    const audience = emulator.ownerApiUrl
    const config = {
      service: 'registered',
      clientId,
      clientSecretFile,
      audience,
      redirectUri,
      tokenUrl: emulator.tokenUrl,
    }
    mkdirSync(join(machine.home, '.config', 'owner-sso'), { recursive: true, mode: 0o700 })
    machine.file('.config/owner-sso/config.json', JSON.stringify(config))
    expect(await paste({ OWNER_SSO_REGIONAL_AUTH_URLS: '' })).toMatchObject({ code: 0 })
    expect(await machine.run(['refresh'], { env: { OWNER_SSO_REGIONAL_AUTH_URLS: '' } })).toMatchObject({ code: 0 })
  })

  it.each([[], ['--credential-file', 'x']])(
    'has no form to fill in for login %s, and sends nothing',
    async (...args) => {
      const env = { ...withFile(), OWNER_SSO_CREDENTIAL: credential }
      const { code, stderr } = await machine.run(['login', '--account', account, ...args], { env })
      expect([code, stderr]).toEqual([2, expect.stringMatching(/has no login form.*\n.*login --browser, or --paste/u)])
      expect(emulator.requests).toEqual([])
    },
  )

  it.each<[string, NodeJS.ProcessEnv, RegExp]>([
    ['an id', { OWNER_SSO_CLIENT_ID: '' }, /also needs clientId, clientSecret\.\n.*OWNER_SSO_SERVICE/u],
    ['an audience', { OWNER_SSO_AUDIENCE: '' }, /also needs audience\.\n.*OWNER_SSO_SERVICE/u],
    ['an audience that is one', { OWNER_SSO_AUDIENCE: 'eu' }, /^.*audience must be .*\n.*OWNER_SSO_AUDIENCE/u],
    [
      'a file that is there',
      { OWNER_SSO_CLIENT_SECRET_FILE: 'ta-secret' },
      /\(ENOENT\)\.\n.*OWNER_SSO_CLIENT_SECRET_FILE/u,
    ],
  ])('needs %s, and says where that is set', async (_what, wrong, words) => {
    const { OWNER_SSO_CLIENT_SECRET_FILE: path } = withFile()
    const env = {
      ...application(),
      ...(wrong['OWNER_SSO_CLIENT_ID'] !== '' && { OWNER_SSO_CLIENT_SECRET_FILE: path }),
      ...wrong,
    }
    const { code, stderr } = await machine.run(['refresh'], { env })
    expect([code, stderr]).toEqual([2, expect.stringMatching(words)])
    expect(stderr).not.toContain('ta-secret')
  })

  it('says what to look at where the service does not know it, and no sign-in is lost', async () => {
    const env = withFile()
    for (const name of accounts) expect(await paste(env, name)).toMatchObject({ code: 0 })
    emulator.change({ clientSecret: 'another' })
    for (const name of [...accounts, account]) {
      const { code, stderr } = await machine.run(['refresh', '--account', name], { env })
      expect([code, stderr]).toEqual([1, expect.stringMatching(/invalid_client[\s\S]*Check OWNER_SSO_CLIENT_ID/u)])
    }
    // Each call is a process of its own, and the first of them alone has asked.
    expect(emulator.requests.filter(({ status }) => status === 401)).toHaveLength(1)
    expect(emulator.counters).toMatchObject({ refreshRequests: 0, replays: 0 })
    // A person who has corrected it signs in without a wait.
    expect(await paste(withFile('another'))).toMatchObject({ code: 0 })
  })
})

describeWithKeyring('the secret in the keyring', () => {
  let desktop: DesktopSession
  beforeAll(async () => {
    desktop = await startDesktopSession()
  })
  afterAll(async () => desktop[Symbol.asyncDispose]())

  const keyring = (): NodeJS.ProcessEnv => {
    const { DBUS_SESSION_BUS_ADDRESS, XDG_RUNTIME_DIR } = desktop.env
    return { DBUS_SESSION_BUS_ADDRESS, XDG_RUNTIME_DIR, OWNER_SSO_KEYRING: '' }
  }
  const run = (args: readonly string[], options: CallOptions = {}): Promise<Ended> =>
    machine.run(args, { ...options, env: { ...application(), ...keyring(), ...options.env } })

  it('is typed once, kept there, and taken by every command; another one replaces it', async () => {
    for (const secret of [clientSecret, 'another']) {
      emulator.change({ clientSecret: secret })
      const terminal = inTerminal(machine, ['login', '--paste', '--account', account], {
        ...application(),
        ...keyring(),
      })
      await terminal.shows(`Client secret of ${clientId}`)
      terminal.type(`${secret}${enter}`)
      await terminal.shows('Address')
      const [, link = ''] = /^(http\S+authorize\S+(?:\n\S+)*)$/mu.exec(terminal.screen().replaceAll('\r', '')) ?? []
      terminal.type(`${await emulator.signInByHand(link.replaceAll('\n', ''))}${enter}`)
      await terminal.shows('Signed in as')
      expect((await terminal.end()).code).toBe(0)
      expect(terminal.screen()).not.toContain(secret)
      expect(await run(['refresh'])).toMatchObject({ code: 0 })
    }
  })

  it('is missing with a sentence that says what to do', async () => {
    await desktop.lose()
    const { code, stderr } = await run(['login', '--paste', '--account', account])
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/no client secret: the keyring has none.*\n.*OWNER_SSO_CLIENT_SECRET_FILE/su),
    ])
    const off = await run(['login', '--paste', '--account', account], { env: { OWNER_SSO_KEYRING: 'off' } })
    expect([off.code, off.stderr]).toEqual([2, expect.stringContaining('the keyring is turned off')])
    expect(emulator.requests).toEqual([])
  })
})

describeWithPrograms('curl')('owner-sso broker run', () => {
  const official = useEmulator({ service: 'registered', tls: true, firewall: false, clientId, clientSecret })

  it('answers the refreshes of an application’s program at its token host, and lets its calls of the owner API pass', async () => {
    const { authUrl, tokenUrl, ownerApiUrl, ca = '' } = official
    const pem = machine.file('ca.pem', ca)
    const trust = { OWNER_SSO_CA: pem, SSL_CERT_FILE: pem }
    const there = { OWNER_SSO_AUTH_URL: authUrl, OWNER_SSO_TOKEN_URL: tokenUrl, OWNER_SSO_AUDIENCE: ownerApiUrl }
    const env = { ...withFile(), ...trust, ...there }
    const { refresh_token } = await official.issueTokens(account)
    const cache = machine.file('cache', JSON.stringify({ refresh_token }))
    expect(await machine.run(['import', cache, '--account', account, '--yes'], { env })).toMatchObject({ code: 0 })
    const { stdout: key } = await machine.run(['broker', 'invite', 'fleet'], { env })
    const program = `
tokens=$(curl -sS "$TOKENS/oauth2/v3/token" -d grant_type=refresh_token -d client_id=${clientId} \
  -d client_secret=its-own -d "refresh_token=$KEY")
access=$(echo "$tokens" | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
curl -sS -H "Authorization: Bearer $access" "$API/api/1/vehicles"; env`
    const given = { TOKENS: tokenUrl, API: ownerApiUrl, KEY: key.trim() }
    const ran = await machine.run(['broker', 'run', '--', 'sh', '-c', program], { env: { ...env, ...given } })
    expect(ran).toEqual({ code: 0, stdout: expect.stringContaining('Daily'), stderr: '' })
    expect(ran.stdout).not.toMatch(/OWNER_SSO_|client-secret|ta-secret/u)
    expect(official.counters).toMatchObject({ refreshRequests: 1, tokenRefreshes: 1, ownerApiRejections: 0 })
  })
})

describeInTerminal('owner-sso setup', () => {
  it('does not look for another kind of service where this one is set', async () => {
    const terminal = inTerminal(machine, ['setup'], { ...withFile(), OWNER_SSO_API_URL: '' })
    for (const question of [
      'Address of the SSO service',
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
    const config = readFileSync(join(machine.home, '.config', 'owner-sso', 'config.json'), 'utf8')
    expect(JSON.parse(config)).toEqual({ authUrl: emulator.authUrl, service: 'registered' })
    expect(emulator.counters.loginPages).toBe(0)
  })
})
