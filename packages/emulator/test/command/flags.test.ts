import { afterEach, describe, expect, it } from '@jest/globals'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { greeting, passcodeTeller } from '../../src/command/greeting.ts'
import { helpText } from '../../src/command/help.ts'
import { optionFlagHelp, optionFlags, optionsOf } from '../../src/command/option-flags.ts'
import { setSwitches, switchFlags, type SwitchValues } from '../../src/command/switch-flags.ts'
import { startEmulator } from '../../src/index.ts'
import { useEmulator } from '../../src/jest.ts'
import { parseEmulatorOptions } from '../../src/options/parse-options.ts'

const command = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
const running: ChildProcess[] = []
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL')
})

function run(args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [command, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  running.push(child)
  return child
}

/** The state of an emulator that was started with these flags. */
async function stateWith(...args: readonly string[]): Promise<Record<string, never>> {
  const child = run(args)
  const [words] = await once(child.stdout ?? child, 'data')
  const address = /SSO service\s+(\S+)/u.exec(String(words))?.[1] ?? ''
  return JSON.parse(await (await fetch(`${address}/_emulator/state`)).text())
}

async function complaint(...args: readonly string[]): Promise<string> {
  const child = run(args)
  let text = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  const [code] = await once(child, 'close')
  return `${code} ${text.trim()}`
}

describe('the flags of the options', () => {
  it('are all of them, under their names with dashes', () => {
    const options = Object.keys(parseEmulatorOptions()).map((name) =>
      name.replace(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`),
    )
    const flags = new Set(Object.keys(optionFlags).map((flag) => flag.replace(/^no-/u, '')))
    expect([...flags].toSorted()).toEqual(options.toSorted())
    expect([optionFlags['tls'], optionFlags['no-firewall'], optionFlags['latency']]).toEqual([
      { type: 'boolean' },
      { type: 'boolean' },
      { type: 'string' },
    ])
    expect(optionFlagHelp.map(({ name }) => name).toSorted()).toEqual(Object.keys(optionFlags).toSorted())
  })

  it('take words, numbers, null and JSON', () => {
    const options = optionsOf({
      tls: true,
      rotation: 'omit',
      latency: '20',
      'expires-in': 'null',
      host: '127.0.0.2',
      firewall: '{"maxRequests":5}',
      'no-inspector': true,
    })
    expect(parseEmulatorOptions(options)).toMatchObject({
      tls: true,
      rotation: 'omit',
      latency: 20,
      expiresIn: null,
      host: '127.0.0.2',
      firewall: { maxRequests: 5, windowSeconds: 60 },
      inspector: false,
    })
    expect(optionsOf({ 'no-firewall': true })).toMatchObject({ firewall: false })
  })
})

describe('npx @owner-sso/emulator', () => {
  it('starts with every kind of switch set', async () => {
    const flags = [
      ['--rotation', 'omit', '--hidden-inputs', '{"rename":{"_csrf":"check"}}', '--latency', '5'],
      ['--scenario', 'mfa-at-form', '--scenario', 'firewall-at-refresh'],
      ['--always', 'token:status=503,delay=20', '--once', 'owner-api:{"status":500,"body":{"a":1}}'],
      ['--locked', 'plain@example.com', '--captcha', 'mfa@example.com'],
      ['--captcha-after-submission', 'regional@example.com', '--regional', 'plain@example.com'],
      ['--block-now', '--clock-at', '2030-01-01T00:00:00Z', '--clock-frozen'],
    ]
    expect(await stateWith(...flags.flat())).toMatchObject({
      options: {
        rotation: { value: 'omit' },
        hiddenInputs: { value: { rename: { _csrf: 'check' } } },
        latency: { value: 5 },
        mfaAt: { value: 'form-submission' },
      },
      faults: {
        token: { always: { status: 503, delay: 20 } },
        refresh: { once: [{ firewall: 'script' }] },
        'owner-api': { once: [{ status: 500, body: { a: 1 } }] },
      },
      accounts: [
        { identity: 'plain@example.com', locked: true, region: 'regional' },
        { identity: 'mfa@example.com', captcha: true },
        { identity: 'regional@example.com', captcha: 'after-submission' },
      ],
      clock: { frozen: true, now: expect.closeTo(Date.UTC(2030, 0, 1) / 1000, -1) },
      firewall: { blockedUntil: expect.any(Number) },
    })
  })

  it.each([
    [['--locked', 'nobody@example.com'], '--locked: The emulator has no account nobody@example.com'],
    [['--firewall', '{"maxRequests":0}'], 'Option --firewall must be'],
    [['--tls-min-version', 'TLSv1.3', '--tls-max-version', 'TLSv1.2'], 'Option --tls-min-version must not be above'],
  ])('explains %j and ends', async (args, message) => {
    const text = await complaint(...args)
    expect(text.startsWith('2 ')).toBe(true)
    expect(text).toContain(message)
  })
})

describe('the flags of the switches', () => {
  const emulator = useEmulator()
  const state = async (): Promise<Record<string, never>> =>
    JSON.parse(await (await fetch(`${emulator.authUrl}/_emulator/state`)).text())

  it('are of two kinds: those that take a value take several', () => {
    const { 'clock-at': at, 'clock-frozen': frozen, 'block-now': block, ...others } = switchFlags
    expect([at, frozen, block]).toEqual([{ type: 'string' }, { type: 'boolean' }, { type: 'boolean' }])
    expect(Object.entries(others)).toEqual(
      ['scenario', 'once', 'always', 'locked', 'captcha', 'captcha-after-submission', 'regional'].map((name) => [
        name,
        { type: 'string', multiple: true },
      ]),
    )
  })

  it.each<[SwitchValues, object]>([
    [{ locked: ['plain@example.com'] }, { accounts: [{ locked: true, captcha: false, region: 'home' }, {}, {}] }],
    [{ captcha: ['plain@example.com'] }, { accounts: [{ locked: false, captcha: true, region: 'home' }, {}, {}] }],
    [{ 'captcha-after-submission': ['plain@example.com'] }, { accounts: [{ captcha: 'after-submission' }, {}, {}] }],
    [
      { regional: ['plain@example.com', 'mfa@example.com'] },
      { accounts: [{ region: 'regional' }, { region: 'regional' }, { region: 'regional' }] },
    ],
    [
      { scenario: ['mfa-at-form', 'locked-account'] },
      {
        options: { mfaAt: { value: 'form-submission' } },
        accounts: [{ locked: true }, { locked: true }, { locked: true }],
      },
    ],
    [{ once: ['token:delay=0,endless'] }, { faults: { token: { always: null, once: [{ delay: 0, endless: true }] } } }],
    [
      { always: ['token:drop=mid-body', 'refresh:{"body":"a=b,c:d"}'] },
      { faults: { token: { always: { drop: 'mid-body' }, once: [] }, refresh: { always: { body: 'a=b,c:d' } } } },
    ],
    [{ 'clock-at': '1000', 'clock-frozen': true }, { clock: { now: expect.closeTo(1000, -1), frozen: true } }],
    [
      { 'clock-at': '1000', 'clock-frozen': true, 'block-now': true },
      { firewall: { blockedUntil: expect.closeTo(1900, -1) }, clock: { frozen: true } },
    ],
    [
      { 'clock-frozen': false, 'block-now': false },
      { clock: { frozen: false, offset: 0 }, firewall: { blockedUntil: null } },
    ],
  ])('%j are what the emulator has then', async (values, expected) => {
    setSwitches(emulator, values)
    expect(await state()).toMatchObject(expected)
  })

  it.each<[SwitchValues, string]>([
    [{ scenario: ['doomsday'] }, '--scenario: Unknown scenario doomsday'],
    [{ once: ['refresh'] }, '--once: it must be like refresh:drop=after-commit'],
    [{ once: ['refresh:'] }, '--once: it must be like refresh:drop=after-commit'],
    [{ once: ['refresh:drop=never'] }, '--once: Field drop must be'],
    [{ once: ['refresh:{"drop"'] }, '--once: the fault is not JSON'],
    [{ always: ['tokens:status=503'] }, '--always: Unknown endpoint tokens'],
    [{ captcha: ['nobody@example.com'] }, '--captcha: The emulator has no account nobody@example.com'],
    [{ 'clock-at': 'noon' }, '--clock-at: Field jump must be'],
  ])('%j is explained', (values, message) => {
    expect(() => setSwitches(emulator, values)).toThrow(TypeError)
    expect(() => setSwitches(emulator, values)).toThrow(message)
  })

  it('pass on what is no mistake of the caller', () => {
    const broken = new Error('broken')
    const applyScenario = (): never => {
      throw broken
    }
    expect(() => setSwitches({ ...emulator, clock: emulator.clock, applyScenario }, { scenario: ['captcha'] })).toThrow(
      broken,
    )
  })
})

describe('the greeting', () => {
  const factors = [
    { name: 'Phone', totpSecret: 'JBSWY3DPEHPK3PXP' },
    { name: 'Tablet', totpSecret: 'KRSXG5CTMVRXEZLU' },
  ]
  const accounts = [
    { identity: "o'neill@example.com", credential: 'it’s $HOME' },
    { identity: 'mfa@example.com', credential: 'x', region: 'regional', factors },
    { identity: 'far@example.com', credential: 'correct horse', region: 'regional' },
  ] as const

  it('says where everything is, who may sign in, and what a shell has to be told', async () => {
    await using own = await startEmulator({ accounts, regionalAt: 'port' })
    const { authUrl, regionalAuthUrl, ownerApiUrl } = own
    const lines = (inspector: string, ...certificate: readonly string[]): string => `
  SSO service     ${authUrl}
  other region    ${regionalAuthUrl}
  owner API       ${ownerApiUrl}
${inspector}
  o'neill@example.com     it’s $HOME
  mfa@example.com         x                 passcode of Phone, Tablet
  far@example.com         correct horse     lives in the other region

  Paste into your program's terminal:

    export OWNER_SSO_AUTH_URL=${authUrl}
    export OWNER_SSO_REGIONAL_AUTH_URLS=${regionalAuthUrl}
    export OWNER_SSO_API_URL=${ownerApiUrl}
    export OWNER_SSO_ACCOUNT='o'\\''neill@example.com'
    export OWNER_SSO_CREDENTIAL='it’s $HOME'
${certificate.map((line) => `${line}\n`).join('')}
  A passcode is shown here when a sign-in asks for one. Ctrl-C ends the emulator.
`
    const platform = Object.getOwnPropertyDescriptor(process, 'platform') ?? {}
    try {
      Object.defineProperty(process, 'platform', { ...platform, value: 'linux' })
      expect(greeting(own, true, '/a/ca.pem')).toBe(
        lines(`  inspector       ${authUrl}/_emulator\n`, '    export NODE_EXTRA_CA_CERTS=/a/ca.pem'),
      )
      expect(greeting(own, false, undefined)).toBe(lines(''))
      expect(greeting(own, false, 'ca.pem$')).toContain("NODE_EXTRA_CA_CERTS='ca.pem$'\n")
      expect(greeting(own, false, '$ca.pem')).toContain("NODE_EXTRA_CA_CERTS='$ca.pem'\n")
      Object.defineProperty(process, 'platform', { ...platform, value: 'win32' })
      expect(greeting(own, false, undefined)).toContain(`
    $env:OWNER_SSO_API_URL = '${ownerApiUrl}'
    $env:OWNER_SSO_ACCOUNT = 'o''neill@example.com'
    $env:OWNER_SSO_CREDENTIAL = 'it’s $HOME'
`)
    } finally {
      Object.defineProperty(process, 'platform', platform)
    }
  })

  it('names no account where there is none', async () => {
    await using own = await startEmulator({ accounts: [] })
    expect(greeting(own, false, undefined)).not.toContain('OWNER_SSO_ACCOUNT')
  })

  it('is followed by the passcodes of each sign-in that asks for them, once', async () => {
    const told: string[] = []
    const tell = passcodeTeller((line) => told.push(line))
    await using own = await startEmulator({ accounts })
    own.clock.freeze()
    const exchange = { id: 1, endpoint: 'mfa-factors', answer: { status: 200 }, identity: ' MFA@example.com' }
    const asked = (changes: object): readonly string[] => {
      tell({ ...exchange, ...changes } as unknown as Parameters<typeof tell>[0], own)
      return told.splice(0)
    }
    const [phone, tablet] = [
      own.account('mfa@example.com').passcode(),
      own.account('mfa@example.com').passcode('Tablet'),
    ]
    const line = [`  mfa@example.com is asked for a passcode: Phone ${phone}, Tablet ${tablet}`]
    expect(asked({ endpoint: 'token' })).toEqual([])
    expect(asked({ answer: { status: 400 } })).toEqual([])
    expect(asked({ answer: undefined })).toEqual([])
    expect(asked({ identity: undefined })).toEqual([])
    expect(asked({ identity: 'nobody@example.com' })).toEqual([])
    expect([asked({}), asked({}), asked({ id: 0 }), asked({ id: 2 })]).toEqual([line, [], [], line])
  })
})

it('the help is what the last release said: a change of it is one for its users', () => {
  expect(helpText()).toMatchSnapshot()
})

it('the help has its words in columns of 111 characters at most, and uses them', () => {
  const rows = helpText()
    .split('\n')
    .filter((row) => row.startsWith('  ') && !row.startsWith('  npx '))
  expect(Math.max(...rows.map((row) => row.length))).toBe(2 + 38 + 1 + 70)
})
