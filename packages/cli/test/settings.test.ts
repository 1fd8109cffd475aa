/** Where a setting comes from, and which are refused: options before variables, variables before the config file. */
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { useEmulator } from '@owner-sso/emulator/jest'
import { rootCertificates } from 'node:tls'
import { describe, expect, it } from '@jest/globals'
import { useMachine } from './machine.ts'

const emulator = useEmulator()
const machine = useMachine(emulator)

/** What the doctor says of each setting: nobody listens at these addresses, which it says beside. */
async function told(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Record<string, string>> {
  const { stdout } = await machine.run(['doctor', '--json', ...args], { env })
  const findings: { about: string; text: string }[] = JSON.parse(stdout).findings
  return Object.fromEntries(findings.toReversed().map(({ about, text }) => [about, text]))
}

describe('a setting', () => {
  const sets = (port: number) => ({
    authUrl: `http://127.0.0.1:${port}`,
    regionalAuthUrls: [`http://127.0.0.2:${port}`],
    apiUrl: `http://127.0.0.3:${port}`,
    store: `file:${machine.home}/${port}`,
    account: `${port}@example.com`,
    ca: machine.file(`${port}.pem`, rootCertificates[0]!),
    redirectUri: `http://127.0.0.1:${port}/callback`,
    service: port % 2 === 0 ? 'current' : 'document',
    transport: port % 2 === 0 ? 'modern' : 'document',
  })
  const names = {
    authUrl: ['authUrl', 'OWNER_SSO_AUTH_URL', '--auth-url'],
    regionalAuthUrls: ['regionalAuthUrls', 'OWNER_SSO_REGIONAL_AUTH_URLS', '--regional-auth-url'],
    apiUrl: ['apiUrl', 'OWNER_SSO_API_URL', '--api-url'],
    store: ['store', 'OWNER_SSO_STORE', '--store'],
    account: ['account', 'OWNER_SSO_ACCOUNT', '--account'],
    ca: ['ca', 'OWNER_SSO_CA', '--ca'],
    redirectUri: ['redirectUri', 'OWNER_SSO_REDIRECT_URI', '--redirect-uri'],
    service: ['service', 'OWNER_SSO_SERVICE', '--service'],
    transport: ['transport', 'OWNER_SSO_TRANSPORT', '--transport'],
  } as const

  it('comes from its option, else from its variable, else from the config file', async () => {
    const path = config({ ...sets(1), requestBudget: '300' })
    const unset = Object.fromEntries(Object.values(names).map(([, variable]) => [variable, '']))
    const pairs = (port: number, at: 1 | 2) =>
      Object.entries(sets(port)).map(([name, value]) => [Reflect.get(names, name)[at], String(value)] as const)
    const variables = { ...Object.fromEntries(pairs(2, 1)), OWNER_SSO_REQUEST_BUDGET: '60' }
    const options = pairs(3, 2).flat()
    for (const [given, port, from] of [
      [await told([], unset), 1, () => path],
      [await told([], variables), 2, ([, variable]: readonly string[]) => variable],
      [await told(options, variables), 3, ([, , option]: readonly string[]) => option],
    ] as const) {
      for (const [name, value] of Object.entries(sets(port))) {
        const [about, ...places] = Reflect.get(names, name)
        expect([name, given[about]]).toEqual([
          name,
          expect.stringContaining(`${String(value)} (${from(['', ...places])})`),
        ])
      }
    }
    expect((await told([], variables))['requestBudget']).toBe('60 (OWNER_SSO_REQUEST_BUDGET)')
  })

  it('of where tokens are refreshed comes from its variable, else from the config file', async () => {
    const path = config({ refresh: 'elsewhere' })
    expect((await told([], {}))['refresh']).toBe(`elsewhere (${path})`)
    expect(await told([], { OWNER_SSO_REFRESH: 'here' })).toHaveProperty('refresh', 'here (OWNER_SSO_REFRESH)')
  })

  it('of several addresses may be repeated as an option, and is a list in a variable', async () => {
    const [a, b] = ['http://127.0.0.2:1', 'http://127.0.0.2:2']
    const options = await told(['--regional-auth-url', a, '--regional-auth-url', b], {})
    expect(options['regionalAuthUrls']).toBe(`${a}, ${b} (--regional-auth-url)`)
    const variable = await told([], { OWNER_SSO_REGIONAL_AUTH_URLS: `${a}, ${b}` })
    expect(variable['regionalAuthUrls']).toBe(`${a}, ${b} (OWNER_SSO_REGIONAL_AUTH_URLS)`)
  })

  it.each<[string, NodeJS.ProcessEnv, string]>([
    ['no service', { OWNER_SSO_AUTH_URL: '' }, 'No SSO service is configured'],
    ['a service without TLS', { OWNER_SSO_AUTH_URL: 'http://auth.example.com' }, 'It came from OWNER_SSO_AUTH_URL'],
    ['another instance that is none', { OWNER_SSO_REGIONAL_AUTH_URLS: 'nowhere' }, 'from OWNER_SSO_REGIONAL_AUTH_URLS'],
    ['a token endpoint without TLS', { OWNER_SSO_TOKEN_URL: 'http://a.example' }, 'It came from OWNER_SSO_TOKEN_URL'],
    ['token endpoints that are no JSON', { OWNER_SSO_TOKEN_URL: '{' }, 'It came from OWNER_SSO_TOKEN_URL'],
    ['a redirect address that is none', { OWNER_SSO_REDIRECT_URI: 'nowhere' }, 'from OWNER_SSO_REDIRECT_URI'],
    ['a transport that is none', { OWNER_SSO_TRANSPORT: 'quic' }, 'It came from OWNER_SSO_TRANSPORT'],
    ['a service that is none', { OWNER_SSO_SERVICE: 'today' }, 'It came from OWNER_SSO_SERVICE'],
    [
      'a challenge that is none',
      { OWNER_SSO_CODE_CHALLENGE_ENCODING: 'hex' },
      'from OWNER_SSO_CODE_CHALLENGE_ENCODING',
    ],
    ['a place of refreshes that is none', { OWNER_SSO_REFRESH: 'there' }, 'Correct OWNER_SSO_REFRESH'],
    ['a budget that is none', { OWNER_SSO_REQUEST_BUDGET: 'many' }, 'It came from OWNER_SSO_REQUEST_BUDGET'],
    ['a CA that is no certificate', { OWNER_SSO_CA: '/dev/null' }, 'is not a readable PEM file'],
    ['a keyring that is neither on nor off', { OWNER_SSO_KEYRING: 'yes' }, 'neither on nor off'],
    ['a store that is none', { OWNER_SSO_STORE: 'mysql://a' }, 'It is file:PATH, '],
    ['a store without a place', { OWNER_SSO_STORE: 'file:' }, 'It is file:PATH, '],
    ['a store on another machine’s disk', { OWNER_SSO_STORE: 'file://host/a' }, 'It is file:PATH, '],
  ])('%s is rejected, with where it came from or what it may be', async (_name, env, words) => {
    const { code, stdout, stderr } = await machine.run(['refresh'], { env })
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(words) })
  })
})

it('a variable that nothing reads is told by each command once, and by the doctor; those of the applications are read', async () => {
  const mistyped = { OWNER_SSO_STROE: 'file:x', OWNERSSO_ACCOUNT: 'x', owner_sso_ca: 'x', OWNER_SSO_COLOUR: 'hush' }
  const env = {
    ...mistyped,
    OWNER_SSO_SPOOL: 'x',
    OWNER_SSO_SESSION_SECRET: 'x',
    OWNER_SSO_STOR: '',
    OWNER: 'x',
  }
  const lines = [
    'OWNER_SSO_STROE is set, but nothing reads it. Did you mean OWNER_SSO_STORE?',
    'OWNERSSO_ACCOUNT is set, but nothing reads it. Did you mean OWNER_SSO_ACCOUNT?',
    'owner_sso_ca is set, but nothing reads it. Did you mean OWNER_SSO_CA?',
    'OWNER_SSO_COLOUR is set, but nothing reads it. owner-sso --help lists the variables.',
  ]
  const { stderr } = await machine.run(['accounts'], { env })
  const [nobody, ...warnings] = stderr.trimEnd().split('\n').toReversed()
  expect([warnings.toSorted(), nobody]).toEqual([lines.toSorted(), expect.stringContaining('Nobody is signed in')])
  const doctor = await machine.run(['doctor'], { env })
  expect(doctor.stderr).toBe('')
  for (const line of lines) expect(doctor.stdout.replaceAll(/\n\s+→/gu, '')).toContain(line)
})

describe('the config file', () => {
  it('is looked for where XDG_CONFIG_HOME says, as is the default store', async () => {
    const { stdout } = await machine.run(['accounts', '--json'], { env: { XDG_CONFIG_HOME: join(machine.home, 'x') } })
    expect(JSON.parse(stdout).store).toBe(`file:${machine.home}/x/owner-sso/tokens`)
  })

  it('is not looked for relative to where the command runs', async () => {
    const { stdout } = await machine.run(['accounts', '--json'], { env: { XDG_CONFIG_HOME: 'here' } })
    expect(JSON.parse(stdout).store).toBe(`file:${machine.home}/.config/owner-sso/tokens`)
  })

  it.each([
    ['an unknown setting', { credential: 'hush' }, 'has no setting "credential"'],
    ['a mistyped one', { stroe: 'file:/x' }, 'Did you mean store?'],
    ['no object', [], 'is not a JSON object'],
    ['no JSON', '{', 'is broken JSON, from line 1 on'],
    ['a setting of the wrong kind', { account: 7 }, 'has a wrong account'],
    ['an empty one', { store: '' }, 'has a wrong store'],
    ['one address for a list', { regionalAuthUrls: 'https://a.example' }, 'It must be a list of addresses'],
    [
      'a token endpoint that is a number',
      { tokenUrl: { 'https://a.example': 7 } },
      'It must be an address, or an object',
    ],
    ['a transport that is a list', { transport: [] }, 'It must be a name, or an object'],
    ['a word for the keyring', { keyring: 'on' }, 'It must be true or false'],
    ['a budget that is a number', { requestBudget: 300 }, 'has a wrong requestBudget'],
  ])('%s: says what is wrong with it', async (_name, content, problem) => {
    config(content)
    const { code, stderr } = await machine.run(['status'])
    expect(code).toBe(2)
    expect(stderr).toContain(problem)
    expect(stderr).not.toContain('hush')
  })

  it.each([
    ['that others can change', 0o606, { account: 'ann@example.com' }, 'Other users can change'],
    ['that a group can change', 0o660, { account: 'ann@example.com' }, 'Other users can change'],
    ['with a password that others can read', 0o604, { store: 'redis://u:hush@127.0.0.1:1' }, 'the password in it'],
    ['with a password that a group can read', 0o640, { store: 'rediss://:hush@127.0.0.1:1' }, 'the password in it'],
  ])('%s is rejected by every command but doctor, which explains it', async (_name, mode, content, problem) => {
    chmodSync(config(content), mode)
    const { code, stdout, stderr } = await machine.run(['login'])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(problem)
    expect(stderr).toContain('chmod 600')
    const doctor = await machine.run(['doctor'])
    expect(doctor.stdout).toContain(problem)
    expect(doctor.stdout).toContain('chmod 600')
    expect(doctor.stdout + doctor.stderr).not.toContain('hush')
    // Doctor looks at the login page, without an account.
    expect(emulator.counters).toMatchObject({ loginPages: 1, formPosts: 0 })
  })

  it('is fine where others can only read it and no password is in it', async () => {
    chmodSync(config({ account: 'ann@example.com', store: 'redis://127.0.0.1:1' }), 0o644)
    expect((await machine.run(['accounts', '--store', 'memory:'])).code).toBe(0)
    expect((await machine.run(['doctor'])).stdout).toMatch(/✔ config file/u)
  })
})

function config(content: unknown): string {
  mkdirSync(join(machine.home, '.config', 'owner-sso'), { recursive: true })
  return machine.file('.config/owner-sso/config.json', typeof content === 'string' ? content : JSON.stringify(content))
}
