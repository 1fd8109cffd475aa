/** What each call says and ends with, word for word: run inside this process, with the file system and the service real. */
import * as files from 'node:fs'
import { join } from 'node:path'
import { useEmulator } from '@owner-sso/emulator/jest'
import { describe, expect, it, jest } from '@jest/globals'
import { callerOf, deadIn, home, key, setTerminal, storeOf, written as json } from './in-process.ts'

const emulator = useEmulator()
const { call, settled, transcript } = callerOf(emulator)
const [ann, bob, plain] = ['ann@example.com', 'bob@example.com', 'plain@example.com'] as const

/** Makes each record of a store unreadable. */
function breakRecords(folder: string): void {
  for (const name of files.readdirSync(join(home, folder), { recursive: true, encoding: 'utf8' })) {
    const path = join(home, folder, name)
    if (files.statSync(path).isFile()) files.writeFileSync(path, '{')
  }
}

describe('a call says what the last release said, and ends with the same code', () => {
  it('copy', async () => {
    await storeOf('tokens', ann)
    await storeOf('several', ann, bob)
    await storeOf('broken', ann)
    breakRecords('broken')
    const sealed = { OWNER_SSO_ENCRYPTION_KEY: key }
    const copied = await transcript([
      'copy - file:H/c1',
      'copy - file:H/c1 --json',
      'copy file:H/several file:H/c2',
      'copy file:H/several file:H/c3 --json',
      'copy file:H/c1 file:H/c2',
      'copy file:H/c1 file:H/several/../c1',
      'copy - -',
      ['copy --from-plain file:H/several file:H/sealed', sealed],
      ['copy file:H/sealed file:H/sealed2', sealed],
      ['copy file:H/sealed file:H/plain --to-plain', sealed],
      'copy file:H/sealed file:H/plain2',
      'copy file:H/sealed file:H/plain3 --to-plain',
      'copy --from-plain file:H/several file:H/plain4',
      'copy --from-plain --to-plain file:H/several file:H/plain5',
      'copy file:H/none file:H/x',
      'copy file:H/broken file:H/x',
      'copy redis://ann:hush@127.0.0.1 file:H/x',
      'copy file:H/several redis://ann:hush@127.0.0.1',
      'copy mysql://a file:H/x',
      'copy file:H/several file:',
    ])
    expect(copied.replaceAll(/^\$ .*$/gmu, '')).not.toContain('hush')
    expect(copied).toMatchSnapshot()
  })

  it('copy, with a bar at a terminal that is gone when anything else is said', async () => {
    await storeOf('shown', ann, bob)
    setTerminal(true, true)
    let now = 0
    jest.spyOn(performance, 'now').mockImplementation(() => (now += 5000))
    const [, ...bars] = (await call('copy file:H/shown file:H/barred', { NO_COLOR: '1' })).split('2> ')
    expect(bars.map((text) => text.replace(/\d+ (?:s|min) left/u, 'A_WHILE left'))).toEqual([
      // eslint-disable-next-line no-control-regex
      expect.stringMatching(/^\r\u001b\[2KCopying {2}█+░+ {2}1 of 4, A_WHILE left$/u),
      expect.stringMatching(/Copying {2}█+░* {2}2 of 4, A_WHILE left$/u),
      expect.stringMatching(/Copying {2}█+░* {2}3 of 4, A_WHILE left$/u),
      expect.stringMatching(/Copying {2}█+░* {2}4 of 4, A_WHILE left$/u),
      '\r\u001b[2K',
      `2 accounts and 2 shared records copied from file:${home}/shown to file:${home}/barred.\n`,
      expect.stringMatching(/^Use the new one from now on.*\n\(exit code 0\)\n$/su),
    ])
    breakRecords('shown')
    const broken = await call('copy file:H/shown file:H/barred2', { NO_COLOR: '1' })
    expect(broken).toContain('0 accounts and 0 shared records copied')
    expect(broken).toContain('(exit code 6)')
  })

  it('import and export, with a bar at a terminal that is gone when anything else is said', async () => {
    await storeOf('pair', ann, bob)
    const entry = (account: string) => ({ refresh_token: `the-refresh-token-of-${account}`, url: emulator.authUrl })
    const two = json('barred.json', { [ann]: entry(ann), [bob]: entry(bob) })
    setTerminal(true, true)
    let now = 0
    jest.spyOn(performance, 'now').mockImplementation(() => (now += 5000))
    const told: string[] = []
    for (const line of [
      `import ${two} --yes --store file:H/i9`,
      'export --all --plain-text-tokens --store file:H/pair',
      'doctor --store file:H/pair',
    ])
      told.push(await call(line, { NO_COLOR: '1' }))
    expect(settled(told.join('\n')).replaceAll('\u001B', 'ESC')).toMatchSnapshot()
  })

  // Node 20 has no SQLite.
  const hasSqlite = Object.keys(process.versions).includes('sqlite')
  it.each([
    [
      'copy - sqlite:H/new/db --json',
      hasSqlite ? /"copied": 1\n.*\(exit code 0\)/su : /has no SQLite\..*\(exit code 2\)/su,
    ],
    [
      'accounts --store sqlite:H/new/db',
      hasSqlite ? /^ann@example\.com$/mu : /Run the command with Node 22\.13 or newer/u,
    ],
    [
      'doctor --store sqlite:H/new/db',
      hasSqlite
        ? /file modes {6}0600: only you can read it\n.* hard links {6}|file modes {6}0600: only you can read it\n✔ encryption {6}none: /u
        : /has no SQLite/u,
    ],
    ['copy sqlite:H/no-folder/db file:H/x', hasSqlite ? /There is no store at sqlite:.*no-folder/u : /has no SQLite/u],
    ['accounts --store sqlite:', /\(exit code 2\)/u],
  ])('%s', async (line, says) => {
    await storeOf('tokens', ann)
    expect(await call(line)).toMatch(says)
  })

  it('a SQLite file is its owner’s alone, sealed with a key, and told of where it is not', async () => {
    const path = join(home, 'private', 'db')
    const sealed = { OWNER_SSO_ENCRYPTION_KEY: key }
    await storeOf('tokens', ann)
    const copied = await call('copy --from-plain - sqlite:H/private/db', sealed)
    const told = [copied, await call('doctor --store sqlite:H/private/db', sealed)]
    files.rmSync(path, { force: true })
    files.mkdirSync(join(home, 'private'), { recursive: true, mode: 0o700 })
    files.writeFileSync(path, 'no database')
    told.push(await call('accounts --store sqlite:H/private/db'))
    expect(told.map((text) => text.includes(hasSqlite ? 'has no SQLite' : 'exit code 0'))).toEqual([
      false,
      false,
      false,
    ])
    expect(told[1]?.includes('OWNER_SSO_ENCRYPTION_KEY would seal')).toBe(false)
    expect(files.statSync(join(home, 'private')).mode & 0o777).toBe(0o700)
  })

  it('import', async () => {
    const token = (name: string): string => `the-refresh-token-of-${name}`
    const entry = (name: string) => ({ refresh_token: token(name), url: emulator.authUrl })
    const many = (count: number, of: (name: string) => unknown = entry): object =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}@example.com`, of(`n${index}`)]))
    const wrong = (name: string) => ({ refresh_token: token(name), url: 'https://auth.example.org' })
    const alone = json('alone.txt', token('alone'))
    const two = json('two.json', { [ann]: entry(ann), [bob]: entry(bob), version: 1, more: {} })
    const aged = json('aged.json', { [ann]: { ...entry(ann), created_at: 1_700_000_000 }, version: 1 })
    const text = await transcript([
      `import ${alone} --yes --store file:H/i0`,
      `import ${alone} --account ${ann} --store file:H/i1`,
      `import ${alone} --account ${ann} --dry-run --store file:H/i1`,
      `import ${alone} --account ${ann} --dry-run --json --store file:H/i1`,
      `import ${alone} --account ${ann} --yes --store file:H/i1`,
      `import ${alone} --account ${ann} --yes --store file:H/i1`,
      `import ${alone} --account ${ann} --yes --replace --json --store file:H/i1`,
      `import ${json('one.json', entry('one'))} --account ${ann} --dry-run --store file:H/i10`,
      `import ${two} --dry-run --store file:H/i2`,
      `import ${two} --yes --account ${bob} --store file:H/i2`,
      `import ${two} --yes --store file:H/i2`,
      `import ${two} --yes --json --store file:H/i2`,
      `import ${aged} --yes --json --store file:H/i3`,
      `import ${two} --yes --check --store file:H/i4`,
      `import ${alone} --yes --check --account ${ann} --json --store file:H/i5`,
      `import ${json('20.json', many(20))} --dry-run --store file:H/i6`,
      `import ${json('21.json', many(21))} --dry-run --store file:H/i6`,
      `import ${json('wrong20.json', many(20, wrong))} --yes --store file:H/i6`,
      `import ${json('wrong21.json', many(21, wrong))} --yes --store file:H/i6`,
      `import ${json('mixed.json', { ...many(1, wrong), [ann]: entry(ann) })} --yes --store file:H/i7`,
      `import ${json('none.json', {})} --yes --store file:H/i8`,
      'import H/nowhere.json --yes',
    ])
    expect(text).not.toContain('the-refresh-token')
    // What a check finds wrong is named as well, as the last line says.
    const checked = text.split('$ owner-sso ').find((each) => each.includes('two.json --yes --check')) ?? ''
    for (const account of [ann, bob]) expect(checked).toMatch(new RegExp(`not imported: .*${account}`, 'u'))
    expect(text).toMatchSnapshot()
  })

  it('export', async () => {
    await storeOf('two', ann, bob)
    await storeOf('tokens', ann)
    const sealed = { OWNER_SSO_ENCRYPTION_KEY: key }
    const text = await transcript([
      `export --store file:H/two`,
      `export --store file:H/two --account ${ann}`,
      `export --store file:H/two --all --plain-text-tokens --file H/all.json`,
      `export --store file:H/two --account ${ann} --plain-text-tokens --file H/all.json`,
      `export --store file:H/two --account ${ann} --plain-text-tokens --file H/no/all.json`,
      `export --store file:H/two --account nobody@example.com --plain-text-tokens`,
      'export --plain-text-tokens',
      'import H/all.json --store file:H/e1 --dry-run',
      ['copy --from-plain file:H/two file:H/e2', sealed],
      ['export --store file:H/e2 --all --file H/sealed.json', sealed],
      'import H/sealed.json --yes --store file:H/e3',
      ['import H/sealed.json --yes --store file:H/e3', sealed],
      [
        'import H/sealed.json --yes --store file:H/e4',
        { OWNER_SSO_ENCRYPTION_KEY: Buffer.alloc(32).toString('base64') },
      ],
    ])
    expect(text.replaceAll(/the-refresh-token-of-[\w@.]+/gu, 'A_TOKEN')).toMatchSnapshot()
    for (const name of ['all', 'sealed']) {
      const path = join(home, `${name}.json`)
      expect([files.statSync(path).mode & 0o777, files.readFileSync(path, 'utf8').endsWith('}\n')]).toEqual([
        0o600,
        true,
      ])
    }
  })

  it('what looks at accounts, and what changes them', async () => {
    await storeOf('one', ann)
    await storeOf('foreign', ann)
    await storeOf('pair', ann, bob)
    await storeOf('torn', ann)
    breakRecords('torn')
    await storeOf('half', ann)
    breakRecords('half')
    await storeOf('half', bob)
    await deadIn('dead', ann)
    const names = ['accounts', 'status', 'token', 'refresh', 'logout', 'export', 'keep --once', 'doctor', 'broker list']
    const password = { OWNER_SSO_CREDENTIAL: 'correct horse' }
    expect(
      await transcript([
        ...names.flatMap((name) =>
          ['empty', 'torn'].flatMap((store) => [
            `${name} --store file:H/${store}`,
            `${name} --store file:H/${store} --json`,
          ]),
        ),
        'accounts --store file:H/half',
        'accounts --store file:H/half --json',
        'keep --once --store file:H/half',
        'export --all --plain-text-tokens --store file:H/dead',
        `export --account ${ann} --plain-text-tokens --store file:H/dead`,
        'status --store file:H/dead',
        'token --store file:H/dead',
        'keep --once --store file:H/dead',
        'doctor --store file:H/dead',
        'status --store file:H/one',
        'status --store file:H/pair --json',
        `status --store file:H/pair --account ${ann}`,
        'status --store file:H/pair --account nobody@example.com --json',
        'status --watch',
        'token --store file:H/pair',
        'token --store file:H/one',
        'keep --once --store file:H/foreign',
        'keep --once --store file:H/foreign --json',
        'keep --once --every 5m',
        'keep --within 0s',
        'keep --within soon',
        'keep --within 1h --every 1h',
        'keep --once --within 2h --refresh-token-lifetime 1h',
        'keep --within 5 --refresh-token-lifetime soon',
        'keep --every soon',
        'keep --once --within 365d --refresh-token-lifetime 1d --store file:H/pair',
        'logout --store file:H/one',
        'logout --store file:H/one',
        `logout --store file:H/one --account ${ann} --json`,
        `logout --store file:H/pair --account ${ann} --json`,
        `login --account ${plain} --store file:H/login`,
        [`login --account ${plain} --store file:H/login`, password],
        [`login --account ${plain} --store file:H/login --json`, password],
        [`login --account ${plain} --store file:H/login`, { OWNER_SSO_CREDENTIAL: 'wrong' }],
        [`login --store file:H/login`, password],
        [`login --account mfa@example.com --store file:H/login`, password],
        `login --account ${plain} --credential-file H/nowhere --store file:H/login`,
        `login --account ${plain} --credential-file H --store file:H/login`,
        `login --paste --store file:H/login`,
        'refresh --store file:H/login',
        'refresh --store file:H/login --json',
        'token --store file:H/login --json',
        'status --store file:H/login',
        'status --store file:H/login --json',
        'doctor --store file:H/login',
        'doctor --store file:H/login --json',
        'doctor --live --store file:H/login',
        'doctor --live --yes --store file:H/login',
        'doctor --live --yes --store file:H/login --json',
        'keep --once --store file:H/login',
        'keep --once --store file:H/login --within 30d --json',
      ]),
    ).toMatchSnapshot()
  }, 60_000)

  it('what is set up, and what is wrong with it', async () => {
    await storeOf('tokens', ann)
    const pem = json('no.pem', 'no certificate')
    const wrong = (variables: NodeJS.ProcessEnv, line = 'refresh') => [line, variables] as const
    const doctor = 'doctor --store file:H/empty'
    expect(
      await transcript([
        'setup',
        'setup --json',
        'completion',
        'completion toString',
        'stores',
        'stores --json',
        'stores --store redis://127.0.0.1:6379',
        'stores --store H/tokens',
        'proxy --port 65536',
        'proxy --port -1',
        'proxy --port 1.5',
        'proxy --port x',
        'proxy --store file:H/empty',
        wrong({ OWNER_SSO_API_URL: '' }, 'proxy'),
        wrong({ OWNER_SSO_API_URL: 'http://api.example.com' }, 'proxy'),
        'proxy --api-url nowhere',
        wrong({ OWNER_SSO_AUTH_URL: '' }),
        wrong({ OWNER_SSO_AUTH_URL: 'nowhere' }),
        wrong({ OWNER_SSO_REGIONAL_AUTH_URLS: 'nowhere' }),
        wrong({ OWNER_SSO_REDIRECT_URI: 'nowhere' }),
        wrong({ OWNER_SSO_TRANSPORT: 'nowhere' }),
        wrong({ OWNER_SSO_TRANSPORT: '{"tls":{}}' }),
        wrong({ OWNER_SSO_TRANSPORT: '{"userAgent":1}' }),
        wrong({ OWNER_SSO_REQUEST_BUDGET: 'nothing' }),
        wrong({ OWNER_SSO_CA: '/nowhere.pem' }),
        `refresh --ca ${pem}`,
        wrong({ OWNER_SSO_KEYRING: 'maybe' }),
        wrong({ OWNER_SSO_ENCRYPTION_KEY: 'short' }),
        wrong({ OWNER_SSO_STORE: '' }, 'stores'),
        wrong({ OWNER_SSO_CA: json('some.pem', '-----BEGIN CERTIFICATE-----').replace('H', home) }, doctor),
        wrong({ OWNER_SSO_CA: '/nowhere.pem', OWNER_SSO_TRANSPORT: 'quic' }, doctor),
        wrong(
          { OWNER_SSO_CA: '/nowhere.pem', OWNER_SSO_TRANSPORT: 'quic', OWNER_SSO_REDIRECT_URI: 'owner-app://callback' },
          doctor,
        ),
        wrong({ OWNER_SSO_TRANSPORT: 'modern', OWNER_SSO_REQUEST_BUDGET: '300:5', OWNER_SSO_ACCOUNT: ann }, doctor),
        wrong({ OWNER_SSO_REDIRECT_URI: 'owner-app://callback', OWNER_SSO_REQUEST_BUDGET: 'nothing' }, doctor),
        wrong({ OWNER_SSO_AUTH_URL: '', OWNER_SSO_REGIONAL_AUTH_URLS: '', OWNER_SSO_API_URL: '' }, doctor),
        wrong({ OWNER_SSO_AUTH_URL: 'nowhere', OWNER_SSO_API_URL: 'ftp://127.0.0.1' }, doctor),
        wrong({ OWNER_SSO_REGIONAL_AUTH_URLS: 'nowhere', OWNER_SSO_KEYRING: 'on' }, doctor),
        wrong({ OWNER_SSO_CREDENTIAL: 'x', NODE_TLS_REJECT_UNAUTHORIZED: '0', https_proxy: 'x' }, `${doctor} --json`),
        wrong({ NODE_DEBUG: 'http' }, 'token'),
        wrong({ NODE_DEBUG: 'http' }, 'stores --force'),
        'broker refuel',
        'broker list more',
        'broker code more',
        'broker revoke one two',
        'broker invite',
        'broker rotate',
        'broker revoke',
        'broker revoke nobody',
        'broker rotate nobody',
        'broker rotate nobody --grace -1',
        'broker rotate nobody --grace 1.5',
        'broker rotate nobody --grace long',
        `broker invite a/b --account ${ann}`,
        `broker invite home --account ${ann} --scope all`,
        `broker invite home --account ${ann} --calls-per-minute 0`,
        `broker invite home --account ${ann} --calls-per-minute 1000000000`,
        `broker invite home --account ${ann} --expires soon`,
        `broker invite home --account ${ann} --expires 2030-01-31 --calls-per-minute 999999999 --json`,
        `broker invite home --account ${ann}`,
        `broker invite other --account ${ann} --scope proxy`,
        'broker list',
        'broker list --json',
        `broker list --clients ${json('clients.json', '[]')}`,
        'broker rotate home',
        'broker revoke home',
        'broker revoke home --json',
        'broker code --json',
        'broker --port x',
        'broker --port 1 --host 0.0.0.0',
        'broker --port 1 --tls-cert H/none',
        'broker --port 1 --tls-cert H/none --tls-key H/none',
        'broker --public-url nowhere',
        'broker --alert-webhook https://a.example',
        'broker --alert-mqtt http://a.example',
        wrong({ OWNER_SSO_ALERT_SECRET: 'short' }, 'broker --alert-webhook https://a.example'),
        'broker --with-proxy --api-url nowhere',
        'broker --socket H/no/where.sock',
        'help',
        'help token',
        'help emulator',
        'help refuel',
        'token --help',
        'token more',
        'token --nothing',
        'token --account',
        'tokn',
        'bogus',
        '--nothing',
        '--store',
        '--version',
      ]),
    ).toMatchSnapshot()
  }, 60_000)
})

// Elsewhere there is always one.
const describeWithoutKeyring = process.platform === 'linux' ? describe : describe.skip
describeWithoutKeyring('where there is no keyring, a call says so of', () => {
  it('what has a key in it, or would have one', async () => {
    await storeOf('several', ann, bob)
    await storeOf('keyed', ann)
    json('keyed/keyring.json', { schema: 1, entry: 'tokens one' })
    await storeOf('unclear', ann)
    json('unclear/keyring.json', '{')
    const [on, unset] = [{ OWNER_SSO_KEYRING: 'on' }, { OWNER_SSO_KEYRING: '', OWNER_SSO_STORE: '' }]
    const password = { OWNER_SSO_CREDENTIAL: 'correct horse' }
    const text = await transcript([
      ['copy file:H/several file:H/k1', on],
      ['copy file:H/several file:H/k2 --no-keyring', on],
      [`import ${json('keyless.txt', 'the-refresh-token-of-ann')} --account ${ann} --yes --store file:H/k3`, on],
      [`login --account ${plain}`, { ...unset, ...password }],
      [`login --account ${plain} --no-keyring`, { ...unset, ...password }],
      [`login --account ${plain} --store file:H/k4`, { OWNER_SSO_KEYRING: '', ...password }],
      ['accounts --store file:H/keyed', on],
      ['accounts --store file:H/keyed --no-keyring', on],
      'token --store file:H/keyed',
      [`login --account ${plain} --store file:H/keyed`, { ...on, ...password }],
      ['copy file:H/keyed file:H/k5', on],
      ['copy file:H/keyed file:H/k6 --from-plain', on],
      'doctor --store file:H/keyed',
      ['doctor --store file:H/keyed', on],
      ['accounts --store file:H/unclear', on],
    ])
    files.rmSync(join(home, 'owner-sso'), { recursive: true, force: true })
    expect(text).toMatchSnapshot()
  })
})
