/** What a person at the terminal is asked, what becomes of each answer, and what runs until it is told to stop. */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { useEmulator } from '@owner-sso/emulator/jest'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { answers, callerOf, home, setTerminal, storeOf, written } from './in-process.ts'
import { credential } from './machine.ts'

const emulator = useEmulator({
  accounts: [
    { identity: 'plain@example.com', credential },
    { identity: 'far@example.com', credential, region: 'regional' },
    { identity: 'bot@example.com', credential, captcha: true },
    { identity: 'locked@example.com', credential, locked: true },
    { identity: 'mfa@example.com', credential, totpSecret: 'JBSWY3DPEHPK3PXP', backupCodes: ['BACKUP001'] },
    {
      identity: 'two@example.com',
      credential,
      factors: [
        { name: 'Phone', totpSecret: 'KRSXG5CTMVRXEZLU' },
        { name: 'Tablet', totpSecret: 'JBSWY3DPEHPK3PXP' },
      ],
    },
  ],
})
const { call, settled } = callerOf(emulator)
const plainText = { NO_COLOR: '1' }

beforeEach(() => setTerminal(true))

/** A call whose person answers so, without what differs from one run to the next, and what the service was asked. */
async function asked(line: string, given: typeof answers, variables: NodeJS.ProcessEnv = {}): Promise<string> {
  answers.push(...given)
  const before = emulator.requests.length
  const told = await call(line, { ...plainText, ...variables })
  expect([line, answers.splice(0)]).toEqual([line, []])
  expect(told).not.toMatch(/correct horse|wrong \d|typed at once|one word|hidden/u)
  const sent = emulator.requests.slice(before).map(({ method, path }) => `${method} ${path.split('?')[0]}`)
  return settled(`${told}${sent.map((request) => `sent: ${request}\n`).join('')}`)
}

const passcodeOf = (identity: string) => (): string => {
  const account = emulator.accounts.find((each) => each.identity === identity)
  return account?.passcode() ?? ''
}

it('a login asks for what is missing, and again for what was wrong while a person may correct it', async () => {
  const password = { OWNER_SSO_CREDENTIAL: credential }
  const told = [
    await asked('login', ['', 'plain', ' plain@example.com ', ' ', credential]),
    await asked('login --json', ['plain@example.com', credential]),
    await asked('login --account plain@example.com', ['wrong 1', 'wrong 1', 'wrong 2']),
    await asked('login --account plain@example.com --credential-file -', ['wrong 3']),
    await asked('login', ['plain@example.org', credential, 'typed at once', '', '=', 'wrong 0']),
    await asked('login', ['plain@example.org', 'wrong 1', '', 'plain@example.com', credential]),
    await asked('login --account plain@example.com', [], { OWNER_SSO_CREDENTIAL: 'wrong 2' }),
    await asked('login --account mfa@example.com', ['', '00 00-00', passcodeOf('mfa@example.com')], password),
    await asked('login --account mfa@example.com', ['BACK UP-001'], password),
    await asked('login --account mfa@example.com', ['1', '12345678', '000001'], password),
    await asked('login --account two@example.com --factor Tablet', ['123456789', '1', '2'], password),
    await asked('login --account two@example.com --factor Watch', [], password),
    await asked('login --no-input', []),
    await asked('login --no-input --account plain@example.com', []),
    await asked('login --browser --no-input', []),
    await asked('login --browser --paste', []),
    ...(await Promise.all([])),
  ]
  for (const option of ['--credential-file', '--totp-secret-file', '--factor'])
    for (const way of ['--browser', '--paste']) told.push(await asked(`login ${way} ${option} x`, []))
  expect(told.join('\n')).toMatchSnapshot()
})

it('a login that nobody attends takes all from elsewhere, tries each once, and says what to do next', async () => {
  setTerminal(false)
  const password = written('password.txt', `${credential}\n`)
  const secret = written('secret.txt', 'jbsw y3dp ehpk 3pxp\n')
  const address = 'otpauth://totp/x?secret=JBSWY3DPEHPK3PXP'
  const logged = (line: string, variables: NodeJS.ProcessEnv = {}): Promise<string> =>
    asked(`login ${line}`.trim(), [], { OWNER_SSO_CREDENTIAL: credential, ...variables })
  const told = [
    await logged(`--credential-file ${password}`, {
      OWNER_SSO_ACCOUNT: ' Plain@Example.com ',
      OWNER_SSO_CREDENTIAL: 'wrong 1',
    }),
    await logged('--account far@example.com --json'),
    await logged('--account far@example.com', { OWNER_SSO_REGIONAL_AUTH_URLS: '' }),
    await logged(`--account mfa@example.com --totp-secret-file ${secret}`),
    await logged('--account two@example.com', { OWNER_SSO_TOTP_SECRET: address }),
    await logged('--account two@example.com --factor Tablet', { OWNER_SSO_TOTP_SECRET: address }),
    await logged('--account mfa@example.com', { OWNER_SSO_TOTP_SECRET: 'KRSXG5CTMVRXEZLU' }),
    await logged('--account mfa@example.com', { OWNER_SSO_TOTP_SECRET: 'hidden!' }),
    await logged('--account mfa@example.com --totp-secret-file H/nowhere'),
    await logged('--account mfa@example.com --json'),
    await logged('--account nobody@example.com'),
    await logged('--account locked@example.com'),
    await logged('--account bot@example.com'),
    await logged('--account plain@example.com', { OWNER_SSO_CREDENTIAL: 'wrong 2' }),
    await logged('--account plain@example.com --json', { OWNER_SSO_CREDENTIAL: 'wrong 3' }),
    await logged('--account plain@example.com', { OWNER_SSO_CREDENTIAL: '' }),
    await logged('', { OWNER_SSO_AUTH_URL: '' }),
    await logged('--account plain@example.com', { OWNER_SSO_AUTH_URL: 'http://127.0.0.1:1' }),
    await logged('--account plain@example.com', { OWNER_SSO_STORE: 'redis://user:hidden@127.0.0.1:1' }),
    await logged('--account plain@example.com', { OWNER_SSO_STORE: `file:${home}/secret.txt` }),
    await logged('--account plain@example.com --store memory:'),
  ]
  chmodSync(join(home, 'password.txt'), 0o640)
  told.push(await logged(`--account plain@example.com --credential-file ${password}`))
  emulator.once('login-page', { firewall: true })
  told.push(await logged('--account plain@example.com'), await logged('--account plain@example.com'))
  expect(told.join('\n').replaceAll(/, at [\d:.]+?(?:\s[AP]M)?\.$/gmu, ', at A_TIME.')).toMatchSnapshot()
})

it('a login at any browser tells what to do there, and takes the address that it ends on', async () => {
  const paste = 'login --paste --account plain@example.com --store file:H/pasted'
  const linkOf = (text: string): string => /^(http\S+)$/mu.exec(text)?.[1] ?? ''
  const signsIn = (text: string): Promise<string> => emulator.signInByHand(linkOf(text))
  const told = [
    await asked(paste, ['', 'nonsense', `${emulator.authUrl}/void/callback`, 'https://elsewhere.example/?code=x']),
    await asked(paste, ['nonsense', signsIn]),
    await asked(`${paste} --redirect-uri owner-app://callback`, ['nonsense', 'nonsense', 'nonsense']),
    await asked(paste.replace('--paste', '--browser'), [(text) => `${linkOf(text)}&error=access_denied`, 'x', 'x']),
    await asked(paste.replace('--account plain', '--account other'), [
      (text) => emulator.signInByHand(linkOf(text), { identity: 'plain@example.com' }),
    ]),
    await asked(paste.replace(' --account plain@example.com', ''), ['plain@example.com', signsIn]),
    // Whose code was sent can't be pasted again.
    await asked(paste, [
      async (text) => {
        const address = await signsIn(text)
        emulator.once('token', { status: 503 })
        return address
      },
    ]),
  ]
  expect(told.join('\n').replaceAll(/(?<=authorize\?)\S+/gu, 'A_QUERY')).toMatchSnapshot()
})

it('an import and a live check ask for consent, an export for a passphrase', async () => {
  await storeOf('one', 'ann@example.com')
  await storeOf('several', 'ann@example.com', 'bob@example.com')
  const token = (name: string): object => ({ refresh_token: `the-refresh-token-of-${name}`, url: emulator.authUrl })
  const one = written('one.json', { 'ann@example.com': token('ann') })
  const two = written('two.json', { 'ann@example.com': token('ann'), 'bob@example.com': token('bob') })
  const login = { OWNER_SSO_CREDENTIAL: credential }
  const told = [
    await asked(`import ${one} --store file:H/i1`, [false]),
    await asked(`import ${one} --store file:H/i1`, [true]),
    await asked(`import ${two} --store file:H/i2`, [false]),
    await asked(`import ${two} --store file:H/i2`, [true]),
    await asked('import --store file:H/i2', []),
    await asked('export --account nobody@example.com --store file:H/one', []),
    await asked('export --store file:H/one --file H/one-word.json', ['', 'one word', 'another']),
    await asked('export --all --store file:H/several --file H/passed.json', ['one word', 'one word']),
    await asked('import H/passed.json --store file:H/i3', ['another word']),
    await asked(`import H/passed.json --store file:H/i3 --regional-auth-url https://auth.example.com`, [
      'one word',
      true,
    ]),
    await asked('doctor --live --api-url nowhere', []),
    await asked('login --account plain@example.com --store file:H/live', [], login),
    await asked('doctor --live --store file:H/live', [false]),
    await asked('doctor --live --store file:H/live', [true]),
    await asked('doctor --live --yes --account other@example.com --store file:H/live', []),
  ]
  for (const status of [401, 403, 499, 500]) {
    emulator.once('owner-api', { status, body: {} })
    told.push(await asked('doctor --live --yes --store file:H/live', []))
  }
  setTerminal(false)
  told.push(await asked('import H/passed.json --store file:H/i3', []))
  expect(existsSync(join(home, 'one-word.json'))).toBe(false)
  expect(told.join('\n')).toMatchSnapshot()
})

describe('setup', () => {
  const configFile = join(home, 'owner-sso', 'config.json')
  const read = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : 'none')
  afterEach(() => rmSync(join(home, 'owner-sso'), { recursive: true, force: true }))
  const unset = {
    OWNER_SSO_AUTH_URL: '',
    OWNER_SSO_REGIONAL_AUTH_URLS: '',
    OWNER_SSO_API_URL: '',
    OWNER_SSO_STORE: '',
  }

  it('proposes what is set, tries each answer, and writes what is kept', async () => {
    const { authUrl, regionalAuthUrl, ownerApiUrl } = emulator
    const told = [
      await asked('setup', ['', authUrl, '=', '=', '=', '='], unset),
      read(configFile),
      await asked(
        'setup',
        [
          'http://sso.example',
          false,
          'http://127.0.0.1:1',
          true,
          `nowhere, http://api.example ${regionalAuthUrl}`,
          false,
          `${regionalAuthUrl},  ${authUrl}`,
          'nowhere',
          false,
          ownerApiUrl,
          'redis://:hush@127.0.0.1',
          false,
          'nowhere',
          false,
          `file:${home}/setup`,
          'plain',
          false,
          'plain@example.com',
        ],
        unset,
      ),
      read(configFile),
      await asked('setup', ['=', '=', '=', '=', ' sub:7 '], {
        ...unset,
        OWNER_SSO_ACCOUNT: 'a@example.com',
        OWNER_SSO_AUTH_URL: authUrl,
      }),
      read(configFile),
      read(`${configFile}.old`),
      await asked('setup --json', []),
      await asked('setup --no-input', []),
    ]
    expect(settled(told.join('\n'))).toMatchSnapshot()
    expect([statSync(configFile).mode & 0o777, existsSync(`${configFile}.new`)]).toEqual([0o600, false])
  })

  it('keeps what it does not ask for, and the file as it was where it can’t be written', async () => {
    const before = { account: 'old@example.com', keyring: false, transport: 'modern', regionalAuthUrls: [] }
    mkdirSync(join(home, 'owner-sso'), { recursive: true, mode: 0o700 })
    writeFileSync(configFile, JSON.stringify(before), { mode: 0o600 })
    mkdirSync(`${configFile}.new`)
    const given = [emulator.authUrl, '', '', '=', '']
    const refused = await asked('setup', given, unset)
    expect(JSON.parse(read(configFile))).toEqual(before)
    rmSync(`${configFile}.new`, { recursive: true })
    const told = [refused, await asked('setup', given, unset), read(configFile), read(`${configFile}.old`)]
    expect(settled(told.join('\n'))).toMatchSnapshot()
  })
})
