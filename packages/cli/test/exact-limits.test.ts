/** Each limit at it and one beyond it, and what is taken only as a whole with a bad head and a bad tail. */
import { spawnSync } from 'node:child_process'
import { createCipheriv, scryptSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import {
  chmodSync,
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
import { styleText } from 'node:util'
import { afterAll, afterEach, describe, expect, it, jest } from '@jest/globals'
import {
  createSso,
  createTokenManager,
  currentHolder,
  firewallRecordName,
  sealedTokenStore,
  StoreError,
  type TokenRecord,
  type TokenStore,
  type Transport,
} from '@owner-sso/core'
import { fileTokenStore } from '@owner-sso/token-store-file'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import { alertChannelsOf } from '../src/broker/alert-channels.ts'
import { desktopOf } from '../src/desktop.ts'
import { until } from './machine.ts'
import type { Settings } from '../src/settings.ts'
import { auditLog } from '../src/broker/audit-log.ts'
import { clientTable } from '../src/broker/client-table.ts'
import { expiryOf } from '../src/broker/expiry.ts'
import { clientsPlaceOf, listenOptionsOf, publicUrlOf } from '../src/broker/place.ts'
import { CommandError, exitCodes } from '../src/command-error.ts'
import { commandTable, globalOptions } from '../src/command-table.ts'
import { openInBrowser } from '../src/browser.ts'
import { bash } from '../src/completion/bash.ts'
import { fish } from '../src/completion/fish.ts'
import { fileFlags, flagsOf, quoted } from '../src/completion/words.ts'
import { zsh } from '../src/completion/zsh.ts'
import { refuseDebugging } from '../src/debug-guard.ts'
import { checkBlocks } from '../src/doctor/block-check.ts'
import { findingLines, good, note, problem, summary } from '../src/doctor/finding.ts'
import { checkReach } from '../src/doctor/reach-check.ts'
import { checkRefreshes } from '../src/doctor/refresh-check.ts'
import { checkStore } from '../src/doctor/store-check.ts'
import { duration } from '../src/duration.ts'
import { encryptionKeys } from '../src/encryption-key.ts'
import { expandHome } from '../src/folders.ts'
import { entryOf, noteEntry } from '../src/keyring/key-note.ts'
import { mayHaveKeyring } from '../src/keyring/keyring.ts'
import { namesIn, sealInPlace } from '../src/keyring/seal-in-place.ts'
import { lifeBar } from '../src/life-bar.ts'
import { isAddressedToLoopback } from '../src/loopback-server.ts'
import { candidateOf } from '../src/moving/candidate.ts'
import { isSealed, opened, plainExport, type Sealed, sealedExport } from '../src/moving/export-file.ts'
import { unsealed } from '../src/moving/export-secret.ts'
import { isAccountName, tokensIn } from '../src/moving/found-tokens.ts'
import { isExportFile, readShape } from '../src/moving/shapes.ts'
import { printNote, renderedLines } from '../src/output.ts'
import { progressBar, progressLine } from '../src/progress-bar.ts'
import { canAsk } from '../src/prompts.ts'
import { report } from '../src/report.ts'
import { secretFromFile } from '../src/secret-file.ts'
import { secondsLeft, statusTable } from '../src/status/status-table.ts'
import { postgresStore } from '../src/stores/postgres.ts'
import { redisStore } from '../src/stores/redis.ts'
import { timeSpan } from '../src/time-span.ts'
import { visible } from '../src/visible-text.ts'
import { runClock } from '../src/window/sign-in-clock.ts'

const folder = mkdtempSync(join(tmpdir(), 'owner-sso-limits-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const refused = 'refused'
/** What it comes to, or that it is refused with words for a person. */
function outcomeOf(act: () => unknown): unknown {
  try {
    return act()
  } catch (error) {
    return refusalOf(error)
  }
}

function refusalOf(error: unknown): string {
  expect(error).toBeInstanceOf(CommandError)
  return refused
}

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

describe('what is moved in', () => {
  const token = 'x'.repeat(20)

  it('is a refresh token of 20 to 8192 visible characters', () => {
    const shapes = [token, token.slice(1), 'x'.repeat(8192), 'x'.repeat(8193), `é${token}`, `${token}é`, `<${token}`]
    expect(shapes.map((text) => readShape(text)?.shape)).toEqual([
      'refresh token',
      undefined,
      'refresh token',
      undefined,
      undefined,
      undefined,
      undefined,
    ])
    for (const begin of '{["<') expect(readShape(`${begin}${token}`)).toBeUndefined()
    expect(readShape(`\uFEFF${token}`)?.shape).toBe('refresh token')
    expect(readShape(`${token}\uFEFF`)?.shape).toBe('refresh token')
    expect(readShape(`x\uFEFF${token}`)).toBeUndefined()
  })

  it.each([
    ['ann@example.com', true],
    [' sub:7 ', true],
    ['ann@', false],
    ['@example.com', false],
    ['a b@c', false],
    ['a@b c', false],
    ['a@b@c', false],
    ['sub:', false],
    ['xsub:7', false],
    ['sub:7 8', false],
  ])('may be of an account called %j: %s', (name, isName) => {
    expect(isAccountName(name)).toBe(isName)
  })

  it.each<[unknown, number | undefined]>([
    [1_000_000_001, 1_000_000_001],
    [1_000_000_000, undefined],
    ['1000000001.9', 1_000_000_001],
    [99_999_999_999, 99_999_999_999],
    [100_000_000_000, 100_000_000_000],
    [100_000_000_001, 100_000_000],
    [1e14, 1e11],
    [1e14 + 1, undefined],
    ['', undefined],
    ['soon', undefined],
    [null, undefined],
  ])('was issued at %j: %s', (created_at, issuedAt) => {
    expect(tokensIn({ refresh_token: token, created_at })?.issuedAt).toBe(issuedAt)
  })

  it.each<[object, number | undefined]>([
    [{ expires_at: 1_900_000_300, expires_in: 300 }, 1_900_000_000],
    [{ expiresAt: 1_900_000_300, expires_in: '300' }, 1_900_000_000],
    [{ expires_at: 1_900_000_300, expires_in: 0 }, undefined],
    [{ expires_at: 1_900_000_300 }, undefined],
    [{ expires_in: 300 }, undefined],
    [{ obtained_at: 1_900_000_001, expires_at: 1_900_000_300, expires_in: 300 }, 1_900_000_001],
  ])('says with %j that it was issued at %s', (times, issuedAt) => {
    expect(tokensIn({ refresh_token: token, ...times })?.issuedAt).toBe(issuedAt)
  })

  it('is told under each name that clients have given to a fact, the usual one first', () => {
    const jwt = (claims: object): string => `x.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.x`
    const facts = (fields: object): unknown => {
      const { refreshToken: _token, ...others } = tokensIn({ refresh_token: token, ...fields }) ?? {}
      return others
    }
    for (const name of ['refresh_token', 'refreshToken'])
      expect(tokensIn({ [name]: token })).toEqual({ refreshToken: token })
    for (const name of ['access_token', 'accessToken', 'authToken', 'id_token', 'idToken'])
      expect([name, facts({ [name]: jwt({ sub: '7' }) })]).toEqual([name, { owner: 'sub:7' }])
    for (const name of ['account', 'email', 'identity', 'username'])
      expect([name, facts({ [name]: 'ann@example.com' })]).toEqual([name, { account: 'ann@example.com' }])
    for (const name of ['auth_url', 'authUrl', 'url', 'sso_url', 'issuer'])
      expect([name, facts({ [name]: 'https://a.example' })]).toEqual([name, { authUrl: 'https://a.example' }])
    for (const name of ['obtained_at', 'created_at', 'createdAt'])
      expect([name, facts({ [name]: 1_900_000_000 })]).toEqual([name, { issuedAt: 1_900_000_000 }])
    for (const name of ['expires_at', 'expiresAt'])
      expect([name, facts({ [name]: 1_900_000_300, expires_in: 300 })]).toEqual([name, { issuedAt: 1_900_000_000 }])
    expect(facts({ email: 'b@example.com', account: 'a@example.com' })).toEqual({ account: 'a@example.com' })
    expect(
      facts({ access_token: jwt({ email: 'b@example.com', iss: 'https://b.example', iat: 1_900_000_000 }) }),
    ).toEqual({
      owner: 'b@example.com',
      authUrl: 'https://b.example',
      issuedAt: 1_900_000_000,
    })
    expect(tokensIn({ refreshToken: token }, { url: 'https://a.example' })?.authUrl).toBe('https://a.example')
    expect(tokensIn({ refresh_token: jwt({ exp: 1_900_000_300, iat: 1_900_000_000, iss: 'i' }) })).toMatchObject({
      endsAt: 1_900_000_300,
      issuedAt: 1_900_000_000,
      authUrl: 'i',
    })
  })

  it.each([
    [{ kind: 'owner-sso export', version: 1 }, true],
    [{ kind: 'owner-sso export', version: 2 }, false],
    [{ kind: 'export', version: 1 }, false],
    [[], false],
    [null, false],
  ])('is an export file if it is %j: %s', (json, isExport) => {
    expect(isExportFile(json)).toBe(isExport)
  })

  it('is sealed with a salt and a nonce of its own, and opened with the same secret alone', () => {
    const secret = Buffer.alloc(32, 1)
    const accounts = { 'ann@example.com': { refresh_token: token, auth_url: 'https://a.example', obtained_at: 1 } }
    const { sealed, ...file } = sealedExport(accounts, 'key', secret)
    const other = sealedExport(accounts, 'key', secret)
    expect(file).toEqual({ kind: 'owner-sso export', version: 1 })
    expect(isSealed(sealed)).toBe(true)
    const bytes = (text: string): number => Buffer.from(text, 'base64url').byteLength
    const { with: how, salt, nonce, data } = sealed as Sealed
    expect([how, bytes(salt), bytes(nonce)]).toEqual(['key', 16, 12])
    // The tag is behind it.
    expect(bytes(data)).toBe(JSON.stringify(accounts).length + 16)
    expect([salt, nonce]).not.toContain((other.sealed as Sealed).salt)
    expect(opened(sealed as Sealed, secret)).toEqual(plainExport(accounts))
    expect(outcomeOf(() => opened(sealed as Sealed, Buffer.alloc(32, 2)))).toBe(refused)
    expect(outcomeOf(() => opened({ ...(sealed as Sealed), data: salt }, secret))).toBe(refused)
  })

  it.each([
    [{ with: 'key', salt: 's', nonce: 'n', data: 'd' }, true],
    [{ with: 'passphrase', salt: 's', nonce: 'n', data: 'd' }, true],
    [{ with: 'nothing', salt: 's', nonce: 'n', data: 'd' }, false],
    [{ with: 'key', nonce: 'n', data: 'd' }, false],
    [{ with: 'key', salt: 's', data: 'd' }, false],
    [{ with: 'key', salt: 's', nonce: 'n' }, false],
    [null, false],
    ['sealed', false],
    [undefined, false],
  ])('of %j the sealed part is one: %s', (value, is) => expect(isSealed(value)).toBe(is))

  it('is not taken over once it has ended, nor from where it is not allowed, nor for somebody else', async () => {
    const now = 1_790_000_000
    const sso = createSso({ authUrl: 'https://auth.example.com' })
    const taken = (found: object, named?: string): Promise<string | number> =>
      candidateOf({ refreshToken: token, ...found }, named, sso, now).then(
        ({ account }) => account,
        (error: CommandError) => error.exitCode,
      )
    expect(await taken({ account: 'Ann@example.com', endsAt: now + 1 })).toBe('ann@example.com')
    expect(await taken({ account: 'ann@example.com', endsAt: now })).toBe(3)
    await expect(
      candidateOf({ refreshToken: token, account: 'ann@example.com', endsAt: now }, undefined, sso, now),
    ).rejects.toThrow('The refresh token of ann@example.com ended on 2026-09-21.')
    expect(await taken({})).toBe(2)
    expect(await taken({ account: 'ann@example.com', authUrl: 'https://evil.example' })).toBe(2)
    await expect(
      candidateOf({ refreshToken: token, account: 'ann@example.com', authUrl: 'nowhere' }, undefined, sso, now),
    ).rejects.toMatchObject({
      message: 'The tokens of ann@example.com are of an address that can’t be read, which is not allowed.',
      next: 'If it is genuine, allow it: --regional-auth-url https://…, or OWNER_SSO_REGIONAL_AUTH_URLS.',
    })
    expect(await taken({ account: 'ann@example.com' }, 'bob@example.com')).toBe(2)
    expect(await taken({ account: 'ann@example.com', owner: 'bob@example.com' })).toBe(2)
    expect(await taken({ account: 'sub:7' }, 'bob@example.com')).toBe('bob@example.com')
    expect(await taken({ owner: 'sub:7' }, 'sub:8')).toBe(2)
    expect(await taken({ account: 'a name' }, 'bob@example.com')).toBe('bob@example.com')
  })
})

it('an export of any release is opened with each of the keys that are set, wherever it stands among them', async () => {
  const { env } = process
  const [key, other, third] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte))
  const text = { 'ann@example.com': { refresh_token: 'x'.repeat(20), auth_url: 'https://a.example', obtained_at: 1 } }
  // RFC 7914: what is written down of it can't change, or no export of before opens.
  const cipher = createCipheriv(
    'aes-256-gcm',
    scryptSync(key ?? '', Buffer.alloc(16, 4), 32, { N: 65_536, r: 8, p: 1, maxmem: 2 ** 27 }),
    Buffer.alloc(12, 5),
  )
  const data = Buffer.concat([cipher.update(JSON.stringify(text)), cipher.final(), cipher.getAuthTag()])
  const sealed: Sealed = {
    with: 'key',
    salt: Buffer.alloc(16, 4).toString('base64url'),
    nonce: Buffer.alloc(12, 5).toString('base64url'),
    data: data.toString('base64url'),
  }
  try {
    for (const keys of [
      [key, other],
      [other, key, third],
      [other, key],
    ]) {
      process.env = { OWNER_SSO_ENCRYPTION_KEY: keys.map((each) => each?.toString('base64')).join(' ') }
      expect(await unsealed(sealed, {} as Settings)).toEqual(plainExport(text))
    }
  } finally {
    process.env = env
  }
})

it('each command is what the last release had: a change of it is one for its users', () => {
  expect({ commandTable, globalOptions, exitCodes }).toMatchSnapshot()
})

it.each([
  [-1, '0 s'],
  [59.9, '59 s'],
  [60, '1 min'],
  [3599, '59 min'],
  [3600, '1 h'],
  [3660, '1 h 1 min'],
  [86_400, '24 h'],
])('%f seconds are %s', (seconds, words) => {
  expect(duration(seconds)).toBe(words)
})

it.each([
  [100, 100, 20],
  [0, 100, 0],
  [-1, 100, 0],
  [1, 100, 1],
  [5, 100, 1],
  [5.1, 100, 2],
  [200, 100, 20],
  [1, 0, 0],
])('of %f of %f seconds the bar shows %i of 20', (left, lifetime, filled) => {
  expect(lifeBar(left, lifetime)).toBe('█'.repeat(filled) + '░'.repeat(20 - filled))
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

it('what could forge a line is written as JSON writes it', () => {
  expect(visible('a\u001b\n\u0085\u202e\u2028\ud800é😀')).toBe(String.raw`a\u001b\u000a\u0085\u202e\u2028\ud800é😀`)
})

describe('the bar of long work', () => {
  const drawn = (steps: readonly number[], screen = { isTTY: true, columns: 80 }) => {
    const written: number[] = []
    let now = 0
    const write = (): boolean => written.push(now) > 0
    const bar = progressBar('Copying', 10, { ...screen, write }, () => now)
    for (const step of steps) {
      now = step
      bar.advance()
    }
    return written
  }

  it('is drawn after a second, and again after a tenth of one', () => {
    expect(drawn([999, 1000, 1099, 1100, 1199, 1201])).toEqual([1000, 1100, 1201])
  })

  it('is full at the end and never longer', () => {
    expect(progressLine('Copying', 10, 10, 1000)).toBe(`Copying  ${'█'.repeat(24)}  10 of 10, 0 s left`)
    expect(progressLine('Copying', 11, 10, 1000)).toBe(`Copying  ${'█'.repeat(24)}  11 of 10, 0 s left`)
    expect(progressLine('Copying', 1, 3, 1000)).toBe(`Copying  ${'█'.repeat(8)}${'░'.repeat(16)}  1 of 3, 2 s left`)
    expect(progressLine('Copying', 1, 0, 1000)).toBe(`Copying  ${'░'.repeat(24)}  1 of 0, 0 s left`)
  })
})

it('a person at the window has 15 minutes, by the clock on the wall, and is told whenever the words for it change', async () => {
  jest.useFakeTimers({ now: 1_790_000_000_000 })
  try {
    const [shown, ended] = [[] as string[], new AbortController()]
    const clock = runClock(
      (left) => shown.push(left),
      ended.signal,
      () => new Error('over'),
    )
    let outcome = 'goes on'
    clock.catch((error: Error) => (outcome = error.message))
    await jest.advanceTimersByTimeAsync(899_999)
    const words = [...Array.from({ length: 15 }, (_, left) => `${15 - left} min`), '59 s']
    expect([outcome, shown.slice(0, 16), shown.at(-1), shown.length]).toEqual(['goes on', words, '0 s', 75])
    await jest.advanceTimersByTimeAsync(1)
    expect([outcome, jest.getTimerCount()]).toEqual(['over', 1])
    ended.abort()
    expect(jest.getTimerCount()).toBe(0)
  } finally {
    jest.useRealTimers()
  }
})

describe('the table of accounts', () => {
  const now = (): number => Date.now() / 1000
  const textOf = (status: object): string =>
    statusTable([{ account: 'ann@example.com', ...status } as never])
      .map((line) =>
        [line]
          .flat()
          .map((part) => (typeof part === 'string' ? part : part.text))
          .join(''),
      )
      .join('\n')

  it('shows what is left, the last refresh and the next one', () => {
    const text = textOf({
      state: 'valid',
      obtained_at: now() - 50,
      expires_at: now() + 55.5,
      refreshed_at: now() - 65,
      refresh_due_at: now() + 125,
      auth_url: 'https://auth.example.com/path',
    })
    expect(text).toMatch(
      /^ann@example.com {2}valid {2}█{11}░{9} {2}55 s left {2}auth.example.com\n {17}refreshed 1 min ago, next refresh in 2 min$/u,
    )
    expect(textOf({ state: 'valid', expires_at: now() + 9, refresh_due_at: now() - 1 })).toContain(
      'next refresh when it is next used',
    )
  })

  it('shows what went wrong, and what to do', () => {
    expect(textOf({ state: 'expired', expires_at: now() - 9, obtained_at: now() - 99 })).toMatch(
      /expired {2}░{20} {2}refreshed when next used$/u,
    )
    const doubt = textOf({ state: 'in-doubt', in_doubt_since: now() - 61, next_attempt_at: now() + 61.5 })
    expect(doubt).toContain('replayed in 1 min')
    expect(doubt).toContain('in doubt since a refresh 1 min ago: its answer was lost')
    expect(textOf({ state: 'reauthentication-required', reason: 'grant_revoked', expires_at: now() + 9 })).toMatch(
      /^ann@example.com {2}sign in again {2}run owner-sso login \(grant revoked\)$/u,
    )
    expect(textOf({ state: 'signed-out' })).toMatch(/signed out {2}run owner-sso login$/u)
    expect(textOf({ state: 'signed-out', last_failure: { at: now() - 5, code: 'ERR_SSO_TIMEOUT' } })).toContain(
      'last failure 5 s ago: the SSO service did not answer in time (ERR_SSO_TIMEOUT)',
    )
    expect(textOf({ state: 'signed-out', last_failure: { at: now(), code: 'ERR_OTHER' } })).toContain(
      'the refresh failed (ERR_OTHER)',
    )
  })

  it('knows no seconds where there is no token, and none below 0', () => {
    expect([secondsLeft({} as never), secondsLeft({ expires_at: now() - 9 } as never)]).toEqual([undefined, 0])
  })
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

it('the programs that a broker lets in stand in columns, each with its last call', () => {
  const program = { name: 'a', accounts: ['ann@example.com'], scope: ['token' as const], calls: 0 }
  const now = Date.now() / 1000
  expect(
    clientTable([
      program,
      { ...program, name: 'heating', calls: 12, last_used_at: now - 125, last_address: '192.0.2.1' },
      { ...program, accounts: ['b@c', 'd\n@e'], scope: ['token', 'proxy'], calls: 1, last_used_at: now - 7300 },
    ]),
  ).toEqual([
    'a        ann@example.com  token         0 calls   never used',
    'heating  ann@example.com  token         12 calls  2 min ago from 192.0.2.1',
    'a        b@c, d\\u000a@e   token, proxy  1 call    2 h 1 min ago from unknown',
  ])
  expect(clientTable([])).toEqual([])
})

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

it('what a program reads on standard error has no colour, no blank line, and no space around it', () => {
  const written: string[] = []
  const { argv } = process
  jest.spyOn(process.stderr, 'write').mockImplementation((text) => written.push(String(text)) > 0)
  process.argv = [...argv, '--json']
  printNote(['  a ', { format: 'red', text: 'b' }, ' c'], ' ', 'd ')
  process.argv = argv
  jest.restoreAllMocks()
  expect(written).toEqual(['{"note":"a b c"}\n', '{"note":"d"}\n'])
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

describe('words in a colour', () => {
  const { env } = process
  const streams = ['stdout', 'stderr'] as const
  const before = streams.map((name) => Object.getOwnPropertyDescriptor(process[name], 'isTTY'))
  const setTerminals = (...are: readonly boolean[]): void => {
    for (const [index, name] of streams.entries())
      Object.defineProperty(process[name], 'isTTY', { value: are[index], configurable: true })
  }
  afterEach(() => {
    process.env = env
    for (const [index, name] of streams.entries())
      Object.defineProperty(process[name], 'isTTY', before[index] ?? { value: undefined, configurable: true })
  })
  const shown = (stream: (typeof streams)[number]) =>
    renderedLines([['a ', { format: 'red', text: 'b\n' }]], stream).join('|')
  const plain = String.raw`a b\u000a`

  it.each([
    [60, ['a'.repeat(24), 'b'.repeat(24)], 1],
    [60, ['a'.repeat(24), 'b'.repeat(25)], 2],
    [20, ['a'.repeat(19), 'b'.repeat(20)], 1],
    [20, ['a'.repeat(20), 'b'.repeat(20)], 2],
    [undefined, ['a'.repeat(99), 'b'.repeat(99)], 1],
  ])('in a terminal of %s columns, an error of %j has so many lines: %i', (columns, words, count) => {
    const written: string[] = []
    jest.spyOn(process.stderr, 'write').mockImplementation((text) => written.push(String(text)) > 0)
    setTerminals(false, columns !== undefined)
    const { columns: real } = process.stderr
    Object.assign(process.stderr, { columns })
    process.env = { NO_COLOR: '1' }
    expect(report(new CommandError(exitCodes.store, words.join(' '), 'Do it.', 'ERR_SSO_STORE'))).toBe(exitCodes.store)
    jest.restoreAllMocks()
    Object.assign(process.stderr, { columns: real })
    const told = count === 1 ? [words.join(' ')] : words
    expect(written).toEqual([`owner-sso: ${[...told, 'Do it.'].join(`\n${' '.repeat(11)}`)}\n`])
  })

  it.each(streams)('are for a terminal: %s, wherever the other one goes', (stream) => {
    process.env = { TERM: 'xterm' }
    const [own, other] = [stream === 'stdout', stream === 'stderr']
    setTerminals(own, other)
    expect(shown(stream)).toBe(`a ${styleText('red', String.raw`b\u000a`, { stream: process[stream] })}`)
    setTerminals(other, own)
    expect(shown(stream)).toBe(plain)
  })

  it.each([
    [{ NO_COLOR: '1' }, false],
    [{ NO_COLOR: '' }, true],
    [{ TERM: 'dumb' }, false],
    [{}, true],
  ])('with %j: %s', (variables, are) => {
    setTerminals(true, true)
    process.env = variables
    const coloured = `a ${styleText('red', String.raw`b\u000a`, { stream: process.stdout })}`
    expect(shown('stdout')).toBe(are ? coloured : plain)
  })
})

describe('somebody can be asked', () => {
  const streams = ['stdin', 'stderr'] as const
  const before = streams.map((name) => Object.getOwnPropertyDescriptor(process[name], 'isTTY'))
  afterEach(() => {
    for (const [index, name] of streams.entries())
      Object.defineProperty(process[name], 'isTTY', before[index] ?? { value: undefined, configurable: true })
  })

  it.each([
    [true, true, true, true],
    [false, true, true, false],
    [true, false, true, false],
    [true, true, false, false],
    [true, false, false, false],
    [false, false, true, false],
  ])('where it is allowed (%s), and input (%s) and questions (%s) are at a terminal: %s', (input, ...are) => {
    for (const [index, name] of streams.entries())
      Object.defineProperty(process[name], 'isTTY', { value: are[index], configurable: true })
    expect(canAsk({ input })).toBe(are[2])
  })
})

it.each(Object.entries({ bash, fish, zsh }))(
  'the completion of %s is what the last release had: a change of it is one for its users',
  (_, script) => expect(script()).toMatchSnapshot(),
)

it('what can be completed is what the table of commands has', () => {
  expect(fileFlags.toSorted()).toEqual([
    '--alert-command',
    '--audit',
    '--ca',
    '--clients',
    '--credential-file',
    '--file',
    '--socket',
    '--tls-cert',
    '--tls-key',
    '--totp-secret-file',
  ])
  expect(flagsOf('logout')).toEqual(flagsOf('').slice(0, -1))
  expect(flagsOf('refuel')).toEqual(flagsOf('logout'))
  expect(flagsOf('').slice(-2)).toEqual(['--help', '--version'])
  expect(flagsOf('').slice(0, -2)).toEqual(globalOptions.map(([flags]) => flags.split(' ')[0]))
  const [own] = commandTable.find(({ name }) => name === 'doctor')?.options ?? []
  expect(flagsOf('doctor')[0]).toBe(own?.[0])
  expect(quoted("the owner's")).toBe("'the owner’s'")
})

it('the doctor ends with how much there is to do, and each finding with what', () => {
  const [fine, wrong] = [good('clock', 'right'), problem('store', 'It is down.', 'Start it.')]
  expect([[], [fine], [fine, wrong], [wrong, wrong]].map(summary)).toEqual([
    'No problem was found.',
    'No problem was found.',
    '1 problem: mend the first one, then look again.',
    '2 problems: mend the first one, then look again.',
  ])
  expect(
    [fine, note('clock', 'wrong', 'Set it.'), wrong].map((each) => renderedLines(findingLines(each), 'stdout')),
  ).toEqual([
    ['✔ clock           right'],
    ['• clock           wrong', '                  → Set it.'],
    ['✖ store           It is down.', '                  → Start it.'],
  ])
  expect(wrong.exitCode).toBe(exitCodes.usage)
})

describe('the doctor, about the store', () => {
  const findings = (path: string, more: object = {}) =>
    checkStore({ store: { value: `file:${path}`, from: '--store' }, regionalAuthUrls: { value: [] }, ...more } as never)
  const plain = { level: 'good', about: 'encryption', text: 'none: OWNER_SSO_ENCRYPTION_KEY would seal the records' }

  it('says where it is, how many are signed in, and that nobody else gets at it', async () => {
    const path = mkdtempSync(join(folder, 'store-'))
    expect(await findings(path)).toEqual([
      { level: 'good', about: 'store', text: `file:${path} (--store), 0 accounts` },
      { level: 'good', about: 'file modes', text: '0700: only you can look into it' },
      { level: 'good', about: 'hard links', text: 'the file system has them' },
      plain,
    ])
    expect(readdirSync(path).filter((name) => name.startsWith('doctor'))).toEqual([])
    for (const mode of [0o701, 0o710]) {
      chmodSync(path, mode)
      expect(await findings(path)).toMatchObject([
        {},
        { level: 'problem', text: `Other users can look into ${path}.`, fix: `Run chmod 700 ${path}`, exitCode: 6 },
        plain,
      ])
    }
  })

  it('asks whose tokens are meant, where several are signed in and none is named', async () => {
    const path = mkdtempSync(join(folder, 'store-'))
    const tokens = createTokenManager({
      sso: createSso({ authUrl: 'https://auth.example.com' }),
      store: fileTokenStore({ path }),
    })
    const grant = { refresh_token: 'x'.repeat(20), auth_url: 'https://auth.example.com' }
    await tokens.save('ann@example.com', grant)
    const [one, ...others] = await findings(path)
    expect(one?.text).toBe(`file:${path} (--store), 1 account`)
    expect(others.filter(({ level }) => level === 'problem')).toEqual([])
    await tokens.save('bob@example.com', { ...grant, refresh_token: 'y'.repeat(20) })
    const text = 'Several accounts are signed in and none is named: ann@example.com, bob@example.com.'
    expect((await findings(path)).filter(({ level }) => level === 'problem')).toMatchObject([
      { about: 'account', text },
    ])
    const account = { value: 'ann@example.com', from: '--account' }
    expect((await findings(path, { account })).filter(({ level }) => level === 'problem')).toEqual([])
  })

  it('leaves the keyring alone where it was told to', async () => {
    const path = mkdtempSync(join(folder, 'store-'))
    noteEntry(path, 'one')
    const off = { keyring: { value: false, from: '--no-keyring' } }
    expect(await findings(path, off)).toMatchObject([
      { level: 'problem', text: expect.stringContaining('the keyring is turned off'), exitCode: 6 },
    ])
  })
})

describe('the doctor, about the firewall', () => {
  const now = 1_790_000_000
  const [home, other] = ['https://auth.example.com', 'https://auth.example.co.uk']
  afterEach(() => void jest.restoreAllMocks())
  const checked = async (url: string, remembered: object) => {
    jest.spyOn(Date, 'now').mockReturnValue(now * 1000)
    const store = memoryTokenStore()
    const record = {
      schema: 1,
      generation: 1,
      state: 'firewall',
      challenges: 1,
      noted_at: now - 60,
      wait: 900,
      ...remembered,
    }
    await store.swap(firewallRecordName(url), 0, record as unknown as TokenRecord, 'one')
    return checkBlocks(store, { authUrl: { value: home }, regionalAuthUrls: { value: ['no address', other] } } as never)
  }

  it.each([
    [home, 'auth.example.com'],
    [other, 'auth.example.co.uk'],
  ])('tells how long %s still blocks', async (url, host) => {
    const text = `The firewall of ${host} blocks this machine: nothing is sent there for another 14 min.`
    expect(await checked(url, {})).toMatchObject([{ level: 'problem', text, exitCode: exitCodes.firewall }])
  })

  it.each([
    [{ wait: 61 }, 1],
    [{ wait: 60 }, 0],
    [{ challenges: 0 }, 0],
    [{ state: 'signed-out' }, 0],
  ])('finds of %j so many: %i', async (remembered, count) => {
    expect(await checked(home, remembered)).toHaveLength(count)
  })
})

describe('the doctor, about refreshes', () => {
  const now = (): number => Date.now() / 1000
  const held = {
    schema: 1,
    generation: 1,
    refreshes: 1,
    lineage: 'l',
    obtained_at: now() - 60,
    lifetime: 3660,
    tokens: {
      access_token: 'access',
      refresh_token: 'refresh',
      token_type: 'Bearer',
      auth_url: 'https://auth.example.com',
      expires_at: now() + 3600,
    },
  }
  const checked = async (record?: object) => {
    const store = memoryTokenStore()
    if (record !== undefined) await store.swap('ann', 0, { ...held, ...record } as unknown as TokenRecord, 'one')
    const tokens = createTokenManager({ sso: createSso({ authUrl: 'https://auth.example.com' }), store })
    return checkRefreshes(['ann'], tokens, store)
  }
  const underWay = (age: number) => ({
    state: 'signed-in',
    intent: { id: 'one', at: now() - age, holder: currentHolder(), replay: 0 },
  })

  it('finds nothing where nothing is under way', async () => {
    expect(await checked()).toEqual([])
    expect(await checked({ state: 'signed-in' })).toEqual([])
  })

  it('finds one that takes longer than a refresh can', async () => {
    expect(await checked(underWay(80))).toMatchObject([
      { about: 'refresh', text: `ann is being refreshed by process ${process.pid}, for 1 min` },
    ])
    jest.spyOn(Date, 'now').mockReturnValue(Date.now())
    const ages = [0, 89.75, 90, 91]
    const levels = await Promise.all(ages.map(async (age) => (await checked(underWay(age)))[0]))
    jest.restoreAllMocks()
    expect(levels.map((finding) => finding?.level)).toEqual(['good', 'good', 'note', 'note'])
    expect(levels[2]?.text).toContain('which is too long')
  })

  it('finds one whose answer was lost, and says when it is settled', async () => {
    const intent = { id: 'one', at: now() - 61, holder: currentHolder(), replay: 1, answerLost: true }
    const [finding] = await checked({ state: 'signed-in', intent })
    expect(finding?.text).toMatch(/^A refresh of ann is in doubt for 1 min: /u)
    expect(finding).toMatchObject({
      about: 'refresh',
      fix: expect.stringMatching(/^Its next use after \d\d min settles it/u),
    })
  })

  it('finds who has to sign in', async () => {
    const ended = { state: 'reauthentication-required', reason: 'refresh_token_rejected' }
    expect(await checked(ended)).toMatchObject([{ text: 'ann has to sign in again (refresh token rejected).' }])
  })
})

describe('the doctor, about who can be reached', () => {
  const transport = { tls: {}, http2: false, userAgent: 'a user agent' } as Transport
  const servers: Server[] = []
  afterEach(async () => {
    jest.restoreAllMocks()
    for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve))
  })
  const at = async (server: Server): Promise<string> => {
    servers.push(server.listen(0, '127.0.0.1'))
    await once(server, 'listening')
    return `127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  const found = async (answer: RequestListener) =>
    checkReach('it', `http://${await at(createServer(answer))}/path?query`, transport)
  const reached = { about: 'it', level: 'good', text: 'reached without TLS' }

  it.each([
    [403, 'text/html; charset=utf-8', true],
    [429, 'text/html', true],
    [402, 'text/html', false],
    [404, 'text/html', false],
    [428, 'text/html', false],
    [430, 'text/html', false],
    [403, 'application/json', false],
    [403, 'x-text/html', false],
    [403, undefined, false],
    [500, undefined, false],
  ])('an answer %i of the type %s is a firewall’s: %s', async (status, type, isFirewall) => {
    const [finding] = await found((_request, response) => {
      response.writeHead(status, { ...(type !== undefined && { 'content-type': type }) }).end()
    })
    expect(finding).toMatchObject(
      isFirewall ? { text: `A firewall answers (${status}).`, exitCode: exitCodes.firewall } : reached,
    )
  })

  it.each([
    [0, 'right, to 1 s'],
    [1.4, 'right, to 1 s'],
    [2, 'right, to 2 s'],
    [10.4, 'right, to 10 s'],
    [-10.4, 'right, to 10 s'],
    [10.5, 'This machine’s clock is 11 s ahead: passcodes would be wrong.'],
    [-11, 'This machine’s clock is 11 s behind: passcodes would be wrong.'],
  ])('a clock that is %f s ahead is told as: %s', async (ahead, text) => {
    const now = 1_790_000_000
    jest.spyOn(Date, 'now').mockReturnValue((now + ahead) * 1000)
    const date = new Date(now * 1000).toUTCString()
    const findings = await found((_request, response) => response.setHeader('date', date).end())
    expect(findings).toMatchObject([
      reached,
      { about: 'clock', level: text.startsWith('right') ? 'good' : 'note', text },
    ])
  })

  it('says nothing of the clock where an answer has no time', async () => {
    for (const date of [undefined, 'soon']) {
      const findings = await found((_request, response) => {
        response.sendDate = false
        if (date !== undefined) response.setHeader('date', date)
        response.end()
      })
      expect(findings).toMatchObject([reached])
    }
  })

  it('makes one request, under the name of the transport, and waits for no more than the head of the answer', async () => {
    const ended: Promise<unknown>[] = []
    const asked: unknown[] = []
    await found(({ method, url, headers }, response) => {
      ended.push(once(response, 'close'))
      const { host: _host, ...others } = headers
      asked.push([method, url, others])
      response.write('a body that never ends')
    })
    await Promise.all(ended)
    expect(asked).toEqual([
      ['GET', '/path?query', { 'user-agent': 'a user agent', accept: '*/*', connection: 'close' }],
    ])
  })

  const trust = 'If its certificate authority is a private one, give its PEM file with --ca.'
  it.each([
    ['ENOTFOUND', 'There is no such host: check the address for a typing mistake.'],
    ['EAI_AGAIN', 'Names can’t be looked up: check the network.'],
    ['ECONNREFUSED', 'Nothing listens there: check the port, and whether the service is running.'],
    ['ETIMEDOUT', 'It does not answer: a firewall on the way may drop the request.'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', trust],
    ['SELF_SIGNED_CERT_IN_CHAIN', trust],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', trust],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', trust],
    ['CERT_HAS_EXPIRED', 'Its certificate has expired, or this machine’s clock is wrong.'],
    ['EPROTO', 'No TLS version is common to both: try another --transport.'],
    ['EOTHER', 'Check the address, and whether this machine has a network.'],
    [undefined, 'Check the address, and whether this machine has a network.'],
  ])('says what to do about %s', async (code, fix) => {
    // As the system reports it, to whoever looks a name up.
    const lookup = (_name: string, _options: object, callback: (error: Error) => void) =>
      process.nextTick(callback, code === undefined ? new Error() : Object.assign(new Error(), { code }))
    const url = 'https://sso.example'
    expect(await checkReach('it', url, { ...transport, tls: { lookup } } as never)).toMatchObject([
      { about: 'it', text: `${url} can’t be reached (${code ?? 'no answer'}).`, fix, exitCode: exitCodes.network },
    ])
  })
})
