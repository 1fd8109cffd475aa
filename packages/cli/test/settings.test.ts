/** Where a setting comes from, and which are refused: options before variables, variables before the file. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals'
import { passcodeGenerator } from '../src/totp.ts'

const home = mkdtempSync(join(tmpdir(), 'owner-sso-settings-'))
process.env['XDG_CONFIG_HOME'] = home
const { openToOthers } = await import('../src/config-file.ts')
const { configFile, tokensFolder } = await import('../src/folders.ts')
const { readSettings, refusePassword } = await import('../src/settings.ts')
const { apiUrlOf, certificateAuthority, requestBudgetOf, serviceOf, transportOf, usableTransportOf } =
  await import('../src/configured-service.ts')
const { CommandError } = await import('../src/command-error.ts')
const { checkSettings } = await import('../src/doctor/settings-check.ts')
const { storeAt } = await import('../src/stores/store-kinds.ts')

const folder = join(home, 'owner-sso')
mkdirSync(folder, { mode: 0o700 })
beforeEach(() => configure({}))
afterAll(() => rmSync(home, { recursive: true, force: true }))

function configure(content: object | string, mode = 0o600): void {
  writeFileSync(configFile, typeof content === 'string' ? content : JSON.stringify(content))
  chmodSync(configFile, mode)
}

/** What it comes to, or what a person is told. */
function outcomeOf(act: () => unknown): unknown {
  try {
    return act()
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return `${error.message} ${error.next}`.replaceAll(configFile, 'FILE')
  }
}

const variables = {
  OWNER_SSO_AUTH_URL: 'https://variable.example',
  OWNER_SSO_REGIONAL_AUTH_URLS: 'https://a.example, https://b.example',
  OWNER_SSO_API_URL: 'https://api.variable.example',
  OWNER_SSO_STORE: 'file:/variable',
  OWNER_SSO_ACCOUNT: 'variable@example.com',
  OWNER_SSO_CA: '/variable.pem',
  OWNER_SSO_REDIRECT_URI: 'https://variable.example/callback',
  OWNER_SSO_TRANSPORT: 'modern',
  OWNER_SSO_KEYRING: 'on',
  OWNER_SSO_REQUEST_BUDGET: '300',
}
const file = {
  authUrl: 'https://file.example',
  regionalAuthUrls: ['https://c.example'],
  apiUrl: 'https://api.file.example',
  store: 'file:/file',
  account: 'file@example.com',
  ca: '/file.pem',
  redirectUri: 'https://file.example/callback',
  transport: { http2: true },
  keyring: false,
  requestBudget: { perMinute: 60 },
}

describe('a setting', () => {
  it('is nothing, or its default, where nobody gives it', () => {
    const nowhere = { value: [], from: 'default' }
    const empty = Object.fromEntries(Object.keys(variables).map((name) => [name, '']))
    for (const env of [{}, empty]) {
      expect(readSettings({}, false, env)).toEqual({
        authUrl: undefined,
        regionalAuthUrls: nowhere,
        apiUrl: undefined,
        store: { value: `file:${tokensFolder}`, from: 'default' },
        account: undefined,
        ca: undefined,
        redirectUri: undefined,
        transport: undefined,
        keyring: undefined,
        requestBudget: undefined,
        json: false,
        input: true,
      })
    }
  })

  it('comes from the file', () => {
    configure(file)
    const settings: object = readSettings({}, false, {})
    for (const [name, value] of Object.entries(file))
      expect([name, Reflect.get(settings, name)]).toEqual([name, { value, from: configFile }])
  })

  it('comes from its variable before the file', () => {
    configure(file)
    const settings = Object.entries(readSettings({}, false, variables)).slice(0, 10)
    expect(Object.fromEntries(settings.map(([, { value, from }]) => [from, value]))).toEqual({
      ...variables,
      OWNER_SSO_REGIONAL_AUTH_URLS: ['https://a.example', 'https://b.example'],
      OWNER_SSO_KEYRING: true,
    })
    expect(readSettings({}, false, { OWNER_SSO_KEYRING: 'off' }).keyring?.value).toBe(false)
  })

  it('comes from its option before all else', () => {
    configure(file)
    const options = {
      authUrl: 'https://option.example',
      regionalAuthUrl: ['https://d.example'],
      apiUrl: 'https://api.option.example',
      store: 'file:/option',
      account: 'option@example.com',
      ca: '/option.pem',
      redirectUri: 'https://option.example/callback',
      transport: 'document',
    }
    const settings = readSettings({ ...options, keyring: false, json: true, input: false }, false, variables)
    expect(settings).toMatchObject({
      authUrl: { value: options.authUrl, from: '--auth-url' },
      regionalAuthUrls: { value: options.regionalAuthUrl, from: '--regional-auth-url' },
      apiUrl: { value: options.apiUrl, from: '--api-url' },
      store: { value: options.store, from: '--store' },
      account: { value: options.account, from: '--account' },
      ca: { value: options.ca, from: '--ca' },
      redirectUri: { value: options.redirectUri, from: '--redirect-uri' },
      transport: { value: options.transport, from: '--transport' },
      keyring: { value: false, from: '--no-keyring' },
      json: true,
      input: false,
    })
  })

  it('of the keyring is on or off', () => {
    expect(outcomeOf(() => readSettings({}, false, { OWNER_SSO_KEYRING: 'yes' }))).toContain('neither on nor off')
  })

  it('of a store shows no password to who lists processes', () => {
    expect(outcomeOf(() => readSettings({ store: 'redis://:secret@a' }, false, {}))).toMatch(/--store has a password/u)
    for (const plain of ['redis://a', 'file:/x', 'nowhere']) expect(() => refusePassword(plain, 'x')).not.toThrow()
  })
})

describe('the config file', () => {
  it.each<[string, object | string]>([
    ['is not a JSON object', '{'],
    ['is not a JSON object', '[]'],
    ['is not a JSON object', 'null'],
    ['is not a JSON object', '7'],
    ['has no setting "other". Settings are', { other: 1 }],
    ['has no setting "stroe". Did you mean store? Settings are authUrl', { stroe: 'file:/x' }],
    ...['authUrl', 'apiUrl', 'store', 'account', 'ca', 'redirectUri'].flatMap((name): [string, object][] => [
      [`has a wrong ${name}. It must be text`, { [name]: '' }],
      [`has a wrong ${name}. It must be text`, { [name]: 7 }],
    ]),
    ['has a wrong regionalAuthUrls. It must be a list of addresses', { regionalAuthUrls: 'https://a.example' }],
    ['has a wrong regionalAuthUrls. It must be a list of addresses', { regionalAuthUrls: [7] }],
    ['has a wrong transport. It must be a name, or an object', { transport: [] }],
    ['has a wrong transport. It must be a name, or an object', { transport: '' }],
    ['has a wrong keyring. It must be true or false', { keyring: 'on' }],
    ['has a wrong requestBudget. It must be text', { requestBudget: 300 }],
  ])('%s: %j', (problem, content) => {
    configure(content)
    expect(outcomeOf(() => readSettings({}, false, {}))).toContain(`FILE ${problem}`)
  })

  it('may hold what nobody else can change, and with a password what nobody else can read', () => {
    const password = { store: 'redis://:secret@a' }
    for (const [mode, content, problem] of [
      [0o600, password, undefined],
      [0o644, {}, undefined],
      [0o604, password, 'and the password in it'],
      [0o640, password, 'and the password in it'],
      [0o644, { store: 'redis://name@a' }, undefined],
      [0o620, {}, 'Other users can change'],
      [0o602, {}, 'Other users can change'],
    ] as const) {
      configure(content, mode)
      const told = openToOthers(content)
      expect([mode, told?.problem.includes(problem ?? '')]).toEqual([mode, problem === undefined ? undefined : true])
      expect(outcomeOf(() => readSettings({}, true, {}))).toMatchObject({ json: false })
      const isRefused = typeof outcomeOf(() => readSettings({}, false, {})) === 'string'
      expect(isRefused).toBe(problem !== undefined)
    }
    rmSync(configFile)
    expect(openToOthers({})).toBeUndefined()
  })
})

describe('the service of the settings', () => {
  const settings = (more: object = {}) => ({ ...readSettings({}, false, {}), ...more })
  const given = (value: unknown) => ({ value, from: 'THERE' })
  const authUrl = given('https://auth.example.com')

  it('is named with where a wrong setting came from', () => {
    expect(outcomeOf(() => serviceOf(settings()))).toMatch(/^No SSO service is configured/u)
    for (const wrong of [
      { authUrl: given('http://auth.example.com') },
      { authUrl, regionalAuthUrls: given(['nowhere']) },
      { authUrl, redirectUri: given('nowhere') },
      { authUrl, transport: given('quic') },
      { authUrl, transport: given({ tls: { maxVersion: 'x' } }) },
    ]) {
      const others = { regionalAuthUrls: { value: [], from: 'ELSEWHERE' }, authUrl: { ...authUrl, from: 'ELSEWHERE' } }
      const from = Object.keys(wrong).at(-1) === 'authUrl' ? {} : { authUrl: others.authUrl }
      expect(outcomeOf(() => serviceOf(settings({ ...others, ...wrong, ...from })))).toMatch(
        /^(?:authUrl|regionalAuthUrls|redirectUri|transport)\b.* It came from THERE: correct it there\.$/u,
      )
    }
    const made = serviceOf(settings({ authUrl, redirectUri: given('app:/callback'), transport: given('modern') }))
    expect(made.authUrl).toBe('https://auth.example.com')
  })

  it('has a transport, a budget, an owner API', () => {
    expect(transportOf(settings())).toEqual({})
    expect(transportOf(settings({ transport: given('{"http2":true}') }))).toEqual({ transport: { http2: true } })
    expect(usableTransportOf(settings({ transport: given('quic') }))).toEqual(usableTransportOf(settings()))
    expect(usableTransportOf(settings({ transport: given('modern') })).tls.maxVersion).toBe('TLSv1.3')
    expect(requestBudgetOf(settings())).toBeUndefined()
    expect(requestBudgetOf(settings({ requestBudget: given('300:5') }))).toEqual({ perMinute: 300, burst: 5 })
    expect(outcomeOf(() => requestBudgetOf(settings({ requestBudget: given('many') })))).toContain('came from THERE')
    expect(apiUrlOf(settings({ apiUrl: given('http://127.0.0.1:1') }))).toBe('http://127.0.0.1:1')
    expect(outcomeOf(() => apiUrlOf(settings()))).toContain('No owner API is configured')
    for (const wrong of ['http://api.example.com', 'nowhere'])
      expect(outcomeOf(() => apiUrlOf(settings({ apiUrl: given(wrong) })))).toContain('It came from THERE')
  })

  it('trusts a certificate authority of its own', () => {
    const path = join(home, 'ca.pem')
    const pem = '-----BEGIN CERTIFICATE-----\nx'
    writeFileSync(path, pem)
    expect(certificateAuthority(path)).toBe(pem)
    writeFileSync(path, 'x')
    for (const wrong of [path, '/nowhere'])
      expect(outcomeOf(() => certificateAuthority(wrong))).toContain('is not a readable PEM file')
  })

  it('is told by the doctor with what is odd about the environment', () => {
    const facts = (env: NodeJS.ProcessEnv) =>
      checkSettings(settings({ authUrl }), env)
        .filter(({ about }) => about === 'environment')
        .map(({ level, text }) => [level, text])
    expect(facts({ NODE_TLS_REJECT_UNAUTHORIZED: '1', OWNER_SSO_CREDENTIAL: '' })).toEqual([])
    expect(facts({ NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toEqual([
      ['problem', expect.stringContaining('Node would trust anybody')],
    ])
    expect(facts({ OWNER_SSO_CREDENTIAL: 'x' })).toEqual([['note', expect.stringContaining('every program')]])
    const proxies = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy']
    for (const name of proxies) expect(facts({ [name]: 'x' })).toEqual([['note', `${name} is set, but not used.`]])
    expect(facts({ HTTPS_PROXY: 'x', http_proxy: 'x' })).toEqual([
      ['note', 'HTTPS_PROXY, http_proxy is set, but not used.'],
    ])
  })
})

it.each([
  ['file:/a/b', 'file', '/a/b'],
  ['file:///a%20b', 'file', '/a b'],
  ['sqlite:/a.db', 'sqlite', '/a.db'],
  ['redis://a:1', 'redis', 'redis://a:1'],
  ['postgresql://a/b', 'postgres', 'postgresql://a/b'],
])('the store at %s is of kind %s, at %s', (address, scheme, place) => {
  const found = storeAt(address)
  expect([found.kind.scheme, found.place]).toEqual([scheme, place])
})

it.each(['file:', 'file://host/a', 'sqlite:', '/a/b', 'xfile:/a', 'mysql://a', ''])(
  'there is no store at %j',
  (address) => {
    expect(outcomeOf(() => storeAt(address))).toMatch(
      /^The store’s address can’t be understood\. It is file:PATH, .* or /u,
    )
  },
)

describe('passcodes out of a secret', () => {
  // RFC 6238, appendix B, in six digits.
  const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
  const never = new AbortController().signal

  it.each([secret, ` gezd gnbv-gy3tqojqgezdgnbvgy3tqojq\n`, `otpauth://totp/x?secret=${secret}`])(
    'are those of the RFC: %j',
    async (text) => {
      expect(await passcodeGenerator(text, () => 59_000 - 3000).next(never)).toBe('287082')
    },
  )

  it('are each given once, and none in the last three seconds', async () => {
    const stopped = AbortSignal.abort()
    for (const [time, isGiven] of [
      [56_999, true],
      [57_000, false],
      [60_000, true],
    ] as const) {
      const given = passcodeGenerator(secret, () => time).next(stopped)
      expect([time, await given.then(() => true).catch(() => false)]).toEqual([time, isGiven])
    }
    // Of a longer time step as well; of a short one, in its last tenth.
    for (const [period, time, isGiven] of [
      [60, 56_999, true],
      [60, 57_000, false],
      [10, 8999, true],
      [10, 9000, false],
    ] as const) {
      const address = `otpauth://totp/x?secret=${secret}&period=${period}`
      const given = passcodeGenerator(address, () => time).next(stopped)
      expect([period, time, await given.then(() => true).catch(() => false)]).toEqual([period, time, isGiven])
    }
    const generator = passcodeGenerator(secret, () => 30_000)
    await generator.next(never)
    await expect(generator.next(stopped)).rejects.toThrow('aborted')
  })

  it.each(['not base32!', 'otpauth://hotp/x?secret=MY&counter=1', 'otpauth://totp/x'])(
    'are not made from %j, and what is wrong quotes nothing',
    (text) => {
      expect(outcomeOf(() => passcodeGenerator(text))).toMatch(/^The TOTP secret can’t be understood\./u)
    },
  )
})
