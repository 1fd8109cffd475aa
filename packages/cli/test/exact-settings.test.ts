/** Each limit at it and one beyond it: what is asked for, and where it is to be. */
import { spawnSync } from 'node:child_process'
import type { IncomingMessage } from 'node:http'
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  promises,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it, jest } from '@jest/globals'
import { currentHolder, sealedTokenStore, StoreError, type TokenRecord, type TokenStore } from '@owner-sso/core'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import { alertChannelsOf } from '../src/broker/alert-channels.ts'
import { desktopOf } from '../src/desktop.ts'
import { until } from './machine.ts'
import type { Settings } from '../src/settings.ts'
import { auditLog } from '../src/broker/audit-log.ts'
import { expiryOf } from '../src/broker/expiry.ts'
import { clientsPlaceOf, listenOptionsOf, publicUrlOf } from '../src/broker/place.ts'
import { exitCodes } from '../src/command-error.ts'
import { openInBrowser } from '../src/browser.ts'
import { refuseDebugging } from '../src/debug-guard.ts'
import { encryptionKeys } from '../src/encryption-key.ts'
import { expandHome } from '../src/folders.ts'
import { entryOf, noteEntry } from '../src/keyring/key-note.ts'
import { mayHaveKeyring } from '../src/keyring/keyring.ts'
import { namesIn, sealInPlace } from '../src/keyring/seal-in-place.ts'
import { isAddressedToLoopback } from '../src/loopback-server.ts'
import { secretFromFile } from '../src/secret-file.ts'
import { postgresStore } from '../src/stores/postgres.ts'
import { redisStore } from '../src/stores/redis.ts'
import { timeSpan } from '../src/time-span.ts'
import { refused, outcomeOf, refusalOf } from './outcome-of.ts'

const folder = mkdtempSync(join(tmpdir(), 'owner-sso-limits-'))

afterAll(() => rmSync(folder, { recursive: true, force: true }))

it.each<[string, unknown]>([
  ['1', 1],
  ['90s', 90],
  ['15m', 900],
  ['2h', 7200],
  ['30d', 2_592_000],
  ['999999999', 999_999_999],
  ['1000000000', refused],
  ['0', refused],
  ['0s', refused],
  ['', refused],
  ['s', refused],
  ['x1s', refused],
  ['1sx', refused],
  ['1w', refused],
  ['-1', refused],
])('the span of time %j is %p', (text, seconds) => {
  expect(outcomeOf(() => timeSpan('--every', text))).toEqual(seconds)
})

it.each<[string | undefined, unknown]>([
  [undefined, undefined],
  ['1m', 1_790_000_060],
  ['1h', 1_790_003_600],
  ['1d', 1_790_086_400],
  ['999999m', 1_790_000_000 + 59_999_940],
  ['1000000m', refused],
  ['0m', refused],
  ['1', refused],
  ['x1m', refused],
  ['1mx', refused],
  ['2030-01-31', 1_896_048_000],
  ['2030-01-31T00:00:01.9Z', 1_896_048_001],
  ['2030-01-31T00:00:01', refused],
  ['x2030-01-31', refused],
  ['2030-01-31 00:00', refused],
  ['2020-01-31', refused],
  ['2026-09-21T14:13:20Z', refused],
  ['2026-09-21T14:13:21Z', 1_790_000_001],
])('an invitation with --expires %j ends at %p', (text, end) => {
  // 2026-09-21T14:13:20Z
  expect(outcomeOf(() => expiryOf(text, 1_790_000_000))).toEqual(end)
})

describe('where a broker listens', () => {
  it.each<[object, unknown]>([
    [{ port: '0' }, [{ port: 0 }]],
    [{ port: '65535' }, [{ port: 65_535 }]],
    [{ port: '65536' }, refused],
    [{ port: '000001' }, refused],
    [{ port: '' }, refused],
    [{ port: ' 1' }, refused],
    [{ port: '1 ' }, refused],
    [{ port: '1', host: '::', behindTlsProxy: true }, [{ port: 1, host: '::', behindTlsProxy: true }]],
    [{ port: '1', tlsCert: 'x' }, refused],
    [{ port: '1', tlsKey: 'x' }, refused],
    [{ port: '1', tlsCert: '/nowhere', tlsKey: '/nowhere' }, refused],
    [{ port: '1', socket: '/run/x.sock' }, [{ port: 1 }, { unix: '/run/x.sock' }]],
    [{ socket: '~/x.sock' }, [{ unix: join(homedir(), 'x.sock') }]],
  ])('%j: %p', (options, places) => {
    expect(outcomeOf(() => listenOptionsOf(options))).toEqual(places)
  })

  it.each<[string | undefined, unknown]>([
    [undefined, undefined],
    ['https://broker.example.com', 'https://broker.example.com/'],
    ['http://127.0.0.1:1/', 'http://127.0.0.1:1/'],
    ['ftp://broker.example.com', refused],
    ['xhttps://broker.example.com/', refused],
    ['httpsx://broker.example.com', refused],
    ['https://broker.example.com/path', refused],
    ['https://broker.example.com/?', 'https://broker.example.com/?'],
    ['https://broker.example.com/?a', refused],
    ['https://broker.example.com/#a', refused],
    ['https://ann@broker.example.com/', refused],
    ['broker', refused],
  ])('its public address %j is %p', (publicUrl, url) => {
    const outcome = outcomeOf(() => publicUrlOf(publicUrl === undefined ? {} : { publicUrl }))
    expect(outcome instanceof URL ? outcome.href : outcome).toEqual(url)
  })

  it('its list of programs is in the store, unless a file is named', () => {
    const store = {} as TokenStore
    expect(clientsPlaceOf({}, store)).toEqual({ store })
    expect(clientsPlaceOf({ clients: '/a/b.json' }, store)).toEqual({ file: '/a/b.json' })
    expect(clientsPlaceOf({ clients: 'b.json' }, store)).toEqual({ file: join(process.cwd(), 'b.json') })
  })
})

it.each<[string, unknown]>([
  ['secret', 'secret'],
  ['secret\n', 'secret'],
  ['secret\r\n', 'secret'],
  ['secret\n\n', 'secret\n'],
  ['sec\nret', 'sec\nret'],
  [' secret ', ' secret '],
  ['\n', refused],
  ['', refused],
])('a file with %j in it holds the secret %p', async (content, secret) => {
  const path = join(folder, 'secret')
  writeFileSync(path, content, { mode: 0o600 })
  expect(await secretFromFile(path, '--file').catch(refusalOf)).toEqual(secret)
})

it.each([
  [{ NODE_DEBUG: 'http' }, true],
  [{ NODE_DEBUG: 'timer, TLS' }, true],
  [{ DEBUG: '*' }, true],
  [{ DEBUG: 'app axios' }, true],
  [{ DEBUG: 'http2-wrapper' }, true],
  [{ DEBUG: 'app:http' }, false],
  [{ NODE_DEBUG: 'timer' }, false],
  [{ NODE_DEBUG: '' }, false],
  [{}, false],
])('in the environment %j debugging is refused: %s', (env, isRefused) => {
  expect(outcomeOf(() => refuseDebugging(false, env))).toEqual(isRefused ? refused : undefined)
  expect(outcomeOf(() => refuseDebugging(true, env))).toBeUndefined()
})

it.each([
  ['127.0.0.1', true],
  ['LocalHost:12345', true],
  ['[::1]:1', true],
  ['localhost:123456', false],
  ['localhost:', false],
  ['evil.127.0.0.1', false],
  ['127.0.0.1.evil.example', false],
  ['x@localhost', false],
  [undefined, false],
])('a request to the host %j is addressed to this machine: %s', (host, isLoopback) => {
  expect(isAddressedToLoopback({ headers: { host } } as IncomingMessage)).toBe(isLoopback)
})

it('an address of a store has a scheme at its beginning, and a host', () => {
  expect(
    ['redis://a', 'rediss://a:1/2', 'xredis://a', 'redis:a', 'redis://', 'redisss://a'].map(redisStore.parse),
  ).toEqual(['redis://a', 'rediss://a:1/2', ...Array<undefined>(4)])
  expect(redisStore.shown('redis://name:password@a:1/')).toBe('redis://a:1')
  expect(redisStore.shown('redis://name:password@a:1/2')).toBe('redis://a:1/2')
  const postgres = [
    'postgres://a/b',
    'postgresql://a:1/b',
    'xpostgres://a/b',
    'postgres:a',
    'postgres:///b',
    'postgres://a/b?password=c',
  ]
  expect(postgres.map(postgresStore.parse)).toEqual(['postgres://a/b', 'postgresql://a:1/b', ...Array<undefined>(4)])
  expect(postgresStore.shown('postgres://name:password@a:1/b?x=y')).toBe('postgres://a:1/b')
})

it('~ is this user’s folder where it stands alone or before a slash', () => {
  expect(['~', '~/a', '~a', 'a/~', '/~/a'].map(expandHome)).toEqual([
    homedir(),
    join(homedir(), 'a'),
    '~a',
    'a/~',
    '/~/a',
  ])
})

it('a browser gets what a desktop tells its programs, and no secret of the caller', () => {
  const passed =
    'PATH LC_ALL XDG_RUNTIME_DIR WAYLAND_DISPLAY GDK_SCALE QT_QPA_PLATFORM WSL_INTEROP WSLENV SystemRoot APPDATA PROGRAMFILES(X86)'
  const kept = 'OWNER_SSO_CREDENTIAL NODE_OPTIONS PATHS XPATH AWS_SECRET MY_DISPLAY'
  const env = Object.fromEntries(`${passed} ${kept}`.split(' ').map((name) => [name, 'x']))
  expect(Object.keys(desktopOf(env))).toEqual(passed.split(' '))
})

it('what is wrong with an alert is a sentence, with its option', () => {
  const settings = { ca: undefined } as Settings
  expect(() => alertChannelsOf({ alertMqtt: 'http://a' }, settings)).toThrow(/^Url of MQTT must be .*\.$/u)
  expect(() => alertChannelsOf({ alertMqtt: 'mqtts://a', alertTopic: '#' }, settings)).toThrow(
    /^Topic of MQTT must be/u,
  )
  expect(() => alertChannelsOf({ alertWebhook: 'https://a' }, settings)).toThrow('there is no secret to sign it with')
  expect(
    alertChannelsOf({ alertCommand: '/bin/true', alertMqtt: 'mqtts://a' }, settings).map(({ name }) => name),
  ).toEqual(['command', 'mqtt'])
  expect(alertChannelsOf({}, settings)).toEqual([])
})

describe('the log of a broker', () => {
  const entry = { at: 1_790_000_000.5, event: 'token', by: 'get', client: 'a\u202Eb', address: '192.0.2.1' } as const
  const line =
    '{"time":"2026-09-21T14:13:20.500Z","event":"token","by":"get","client":"a\\u202eb","address":"192.0.2.1"}\n'

  it('has all that was noted once it is closed, after what it had, and is this user’s alone', async () => {
    const path = join(folder, 'audit.log')
    for (let time = 0; time < 2; time += 1) {
      const log = auditLog(path)
      log?.note(entry)
      await log?.close()
      expect(readFileSync(path, 'utf8')).toBe(line.repeat(time + 1))
    }
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('is none where nobody asks for it, standard error for a dash, and no failure where it can’t be written', async () => {
    const written: string[] = []
    jest.spyOn(process.stderr, 'write').mockImplementation((text) => written.push(String(text)) > 0)
    expect(auditLog(undefined)).toBeUndefined()
    const [shown, lost] = [auditLog('-'), auditLog(join(folder, 'nowhere', 'audit.log'))]
    shown?.note(entry)
    expect(written).toEqual([line])
    lost?.note(entry)
    await Promise.all([shown?.close(), lost?.close()])
    jest.restoreAllMocks()
    expect(written[1]).toMatch(/^The audit log can’t be written: ENOENT/u)
  })
})

// A file that can be written no longer, as a disk that is full: a FIFO whose reader is gone.
if (process.platform === 'linux') {
  it('a broker says once that its log can’t be written, and once more where that happens again', async () => {
    const written: string[] = []
    jest.spyOn(process.stderr, 'write').mockImplementation((text) => written.push(String(text)) > 0)
    const path = join(folder, 'not yet', 'audit.log')
    const log = auditLog(path)
    const tried = async (): Promise<void> => {
      log?.note({ at: 1, event: 'token', by: 'get', address: '192.0.2.1' } as never)
      // What was asked of the file system before this has been answered by then.
      for (let turn = 0; turn < 5; turn += 1) await promises.open(path, 'wx').then((file) => file.close(), String)
    }
    const told = (count: number): Promise<void> => until(() => written.length === count)
    await tried()
    await told(1)
    await tried()
    mkdirSync(join(folder, 'not yet'))
    spawnSync('mkfifo', [path])
    const reader = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
    await tried()
    const line = Buffer.alloc(1000)
    await until(() => {
      try {
        return readSync(reader, line) > 0
      } catch {
        return false
      }
    })
    closeSync(reader)
    await tried()
    await told(2)
    jest.restoreAllMocks()
    expect(written.map((text) => /ENOENT|EPIPE/u.exec(text)?.[0])).toEqual(['ENOENT', 'EPIPE'])
  })
}

describe('the note of a folder whose key is in the keyring', () => {
  it('names the entry, is this user’s alone, and stays as it is', () => {
    const path = mkdtempSync(join(folder, 'noted-'))
    expect(entryOf(path)).toBeUndefined()
    expect([noteEntry(path, 'one'), noteEntry(path, 'two'), entryOf(path)]).toEqual(['one', 'one', 'one'])
    expect(readdirSync(path)).toEqual(['keyring.json'])
    expect(statSync(join(path, 'keyring.json')).mode & 0o777).toBe(0o600)
    expect(entryOf(join(path, 'keyring.json'))).toBeUndefined()
  })

  it.each(['', '{', 'null', '{"schema":2,"entry":"x"}', '{"schema":1,"entry":""}', '{"schema":1,"entry":1}'])(
    'is none, and no sign of a plain folder, where it is %j',
    (content) => {
      const path = mkdtempSync(join(folder, 'noted-'))
      writeFileSync(join(path, 'keyring.json'), content)
      expect(() => entryOf(path)).toThrow('can’t be read: it tells which key of the keyring opens this folder')
    },
  )

  it('is not said to be broken where the system does not let it be read: that of another user, say', () => {
    const path = mkdtempSync(join(folder, 'noted-'))
    mkdirSync(join(path, 'keyring.json'))
    const said = {
      exitCode: exitCodes.store,
      message: `${join(path, 'keyring.json')} can’t be read (EISDIR). Nothing was changed.`,
      next: 'Look at the owner and mode of it and its folder, or choose another store with --store.',
    }
    expect(() => entryOf(path)).toThrow(expect.objectContaining(said))
  })
})

describe('a folder that is sealed in place', () => {
  const tokens = { refresh_token: 'refresh', auth_url: 'https://auth.example.com' }
  const plain = { schema: 1, state: 'signed-in', generation: 1, refreshes: 1, lineage: 'l', tokens } as TokenRecord
  const filled = async (...accounts: readonly string[]) => {
    const store = memoryTokenStore()
    for (const account of accounts) await store.swap(account, 0, plain, 'one')
    return { store, sealed: sealedTokenStore(store, { keys: [Buffer.alloc(32, 7)] }) }
  }
  const stateOf = async (store: TokenStore, account: string) => (await store.read(account))?.record.state

  it('has each plain record sealed once, and one that is being refreshed left alone', async () => {
    const { store, sealed } = await filled('a@b', 'c@d', 'e@f')
    const intent = { id: 'one', at: 1, holder: currentHolder(), replay: 0 }
    await store.swap('e@f', 1, { ...plain, intent } as TokenRecord, 'two')
    expect(await sealInPlace(store, sealed)).toEqual({ records: 2, waiting: 1 })
    expect(await Promise.all(['a@b', 'c@d', 'e@f'].map((name) => stateOf(store, name)))).toEqual([
      'sealed',
      'sealed',
      'signed-in',
    ])
    expect(await stateOf(sealed, 'a@b')).toBe('signed-in')
    expect(await sealInPlace(store, sealed)).toEqual({ records: 0, waiting: 1 })
  })

  it('has what another process wrote meanwhile sealed, and not what was there before', async () => {
    const { store, sealed } = await filled('a@b')
    const over: unknown[] = []
    const swap: TokenStore['swap'] = async (...args) => {
      if (over.push(args[4]) === 1) await store.swap('a@b', 1, { ...plain, generation: 9 } as TokenRecord, 'another')
      return sealed.swap(...args)
    }
    expect(await sealInPlace(store, { ...sealed, swap })).toEqual({ records: 1, waiting: 0 })
    // Over what was read, and nothing plain is left of it.
    expect(over).toEqual(['one', 'another'].map((expectedWriteId) => ({ expectedWriteId, forgetOlder: true })))
    expect(await stateOf(store, 'a@b')).toBe('sealed')
    expect((await sealed.read('a@b'))?.record).toMatchObject({ generation: 9 })
  })

  it('has the names that can be read, whatever is wrong with another', async () => {
    const listing = (error?: Error): TokenStore => ({
      ...memoryTokenStore(),
      async *accounts() {
        yield 'a@b'
        if (error !== undefined) throw error
      },
    })
    const { accounts: _accounts, ...unlisted } = memoryTokenStore()
    expect(await namesIn(listing())).toEqual(['a@b'])
    expect(await namesIn(listing(new StoreError('corrupt', 'torn')))).toEqual(['a@b'])
    expect(await namesIn(unlisted)).toEqual([])
    await expect(namesIn(listing(new TypeError('a bug')))).rejects.toThrow('a bug')
  })
})

it.each([
  ['darwin', {}, 'open', []],
  ['win32', {}, 'rundll32', ['url.dll,FileProtocolHandler']],
  ['linux', { DISPLAY: ':7' }, 'xdg-open', []],
  ['linux', { WAYLAND_DISPLAY: 'wayland-7' }, 'xdg-open', []],
] as const)('an address opens on %s with %j by %s', async (platform, screen, program, args) => {
  const path = mkdtempSync(join(folder, 'opener-'))
  const given = join(path, 'opened')
  const script = `#!/bin/sh\nprintf '%s\\n' "$@" "$OWNER_SSO_CREDENTIAL" > ${given}.new\n/bin/mv ${given}.new ${given}\n`
  writeFileSync(join(path, program), script, { mode: 0o700 })
  const before = process.platform
  Object.defineProperty(process, 'platform', { value: platform, configurable: true })
  const wasTried = openInBrowser('https://auth.example.com/?a&b', { PATH: path, OWNER_SSO_CREDENTIAL: 'x', ...screen })
  Object.defineProperty(process, 'platform', { value: before, configurable: true })
  expect(wasTried).toBe(true)
  await until(() => existsSync(given))
  expect(readFileSync(given, 'utf8')).toBe([...args, 'https://auth.example.com/?a&b', '', ''].join('\n'))
})

it('a keyring is there on macOS and Windows, elsewhere with a session bus', () => {
  const path = mkdtempSync(join(folder, 'run-'))
  const where = (platform: string, env: NodeJS.ProcessEnv): boolean => {
    const before = process.platform
    Object.defineProperty(process, 'platform', { value: platform, configurable: true })
    try {
      return mayHaveKeyring(env)
    } finally {
      Object.defineProperty(process, 'platform', { value: before, configurable: true })
    }
  }
  expect(['darwin', 'win32', 'linux'].map((platform) => where(platform, {}))).toEqual([true, true, false])
  expect(where('linux', { DBUS_SESSION_BUS_ADDRESS: '' })).toBe(false)
  expect(where('linux', { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' })).toBe(true)
  expect(where('linux', { DBUS_SESSION_BUS_ADDRESS: '', XDG_RUNTIME_DIR: path })).toBe(false)
  writeFileSync(join(path, 'bus'), '')
  expect(where('linux', { XDG_RUNTIME_DIR: path })).toBe(true)
})

describe('OWNER_SSO_ENCRYPTION_KEY', () => {
  const { env } = process
  afterEach(() => {
    process.env = env
  })
  const keyOf = (bytes: number): string => Buffer.alloc(bytes, bytes).toString('base64')

  it.each([
    [undefined, undefined],
    ['', undefined],
    [keyOf(32), [32]],
    [`${keyOf(32)}, ${keyOf(32)}\n${keyOf(32)},`, [32, 32, 32]],
    [keyOf(31), refused],
    [keyOf(33), refused],
    [`${keyOf(32)} ${keyOf(16)}`, refused],
    [' ', refused],
    [',', refused],
  ])('%j: %p', (text, lengths) => {
    process.env = text === undefined ? {} : { OWNER_SSO_ENCRYPTION_KEY: text }
    const keys = outcomeOf(encryptionKeys) as readonly Uint8Array[] | typeof refused | undefined
    expect(typeof keys === 'object' ? keys.map(({ byteLength }) => byteLength) : keys).toEqual(lengths)
  })
})
