import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startEmulator } from '@owner-sso/emulator'
import { useEmulator } from '@owner-sso/emulator/jest'
import { afterEach, beforeEach, expect, it } from '@jest/globals'

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const clock = fileURLToPath(new URL('jumping-clock.cjs', import.meta.url))
const credential = 'a password of this test'
const totpSecret = 'KRSXG5CTMVRXEZLU'
const nineHours = 9 * 3600

const emulator = useEmulator({ accounts: [{ identity: 'ann@example.com', credential, totpSecret }] })
let folder: string
const running: ChildProcess[] = []

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'owner-sso-poller-'))
})
afterEach(async () => {
  for (const child of running.splice(0)) child.kill('SIGKILL')
  rmSync(folder, { recursive: true })
})

it('signs in once, polls, survives a restart and an expiry, and stops cleanly', async () => {
  const first = start()
  await first.logs('signed in')
  await first.logs('"vehicle":{"id":"10000000000001001"')
  expect(await first.stop()).toBe(0)

  const second = start()
  await second.logs('"vehicle"')
  expect(emulator.counters).toMatchObject({ formPosts: 2, codeExchanges: 1, refreshRequests: 0 })

  emulator.clock.advance(nineHours)
  second.child.kill('SIGUSR2')
  const calls = emulator.counters.ownerApiCalls
  while (emulator.counters.ownerApiCalls < calls + 3) await second.logs('"vehicle"')
  expect(await second.stop()).toBe(0)
  expect(second.said()).not.toContain('this poll failed')
  expect(emulator.counters).toMatchObject({ formPosts: 2, refreshRequests: 1, replays: 0, ownerApiRejections: 0 })

  const secrets = [credential, totpSecret, ...tokensOf(folder), 'EMULATED000000001']
  for (const secret of secrets) expect(first.said() + second.said()).not.toContain(secret)
})

it('ends after a refresh that is under way', async () => {
  const first = start()
  await first.logs('"vehicle"')
  await first.stop()
  emulator.clock.advance(nineHours)
  let release = (): void => undefined
  emulator.once('refresh', { hold: new Promise<void>((resolve) => (release = resolve)), commit: 'after' })
  const second = start({ TEST_CLOCK_AHEAD: String(nineHours) })
  while (emulator.counters.tokenRefreshes === 0) await new Promise((resolve) => setTimeout(resolve, 20))
  const end = second.stop()
  release()
  expect(await end).toBe(0)
  const third = start({ TEST_CLOCK_AHEAD: String(nineHours) })
  await third.logs('"vehicle"')
  await third.stop()
  expect(emulator.counters).toMatchObject({ formPosts: 2, refreshRequests: 1, replays: 0 })
})

it.each([
  ['a wrong password', { OWNER_SSO_CREDENTIAL: 'wrong' }, 'ERR_SSO_INVALID_CREDENTIALS', 1],
  ['no secret', { OWNER_SSO_TOTP_SECRET: '' }, 'ERR_SSO_PASSCODE_REQUIRED', 1],
  ['another secret', { OWNER_SSO_TOTP_SECRET: 'JBSWY3DPEHPK3PXP' }, 'ERR_SSO_PASSCODE_REJECTED', 1],
  ['a secret that is none', { OWNER_SSO_TOTP_SECRET: 'not base32!' }, 'OWNER_SSO_TOTP_SECRET', 0],
  ['an account in quotation marks', { OWNER_SSO_ACCOUNT: '"ann@example.com"' }, 'write identity=ann@example.com', 0],
  ['a password of two lines', { OWNER_SSO_CREDENTIAL: `${credential}\nann` }, 'credential has several lines', 0],
  ['no password', { OWNER_SSO_CREDENTIAL: '' }, 'OWNER_SSO_CREDENTIAL', 0],
  ['a transport that is none', { OWNER_SSO_TRANSPORT: 'TLS 9' }, 'OWNER_SSO_TRANSPORT must be ', 0],
  ['a service that is none', { OWNER_SSO_SERVICE: 'today' }, 'OWNER_SSO_SERVICE must be ', 0],
  ['a redirect address that is none', { OWNER_SSO_REDIRECT_URI: 'void' }, 'redirectUri must be', 0],
  ['a service without TLS', { OWNER_SSO_AUTH_URL: 'http://auth.example.com' }, 'authUrl must be', 0],
  ['a token endpoint without TLS', { OWNER_SSO_TOKEN_URL: 'http://token.example.com' }, 'tokenUrl must be', 0],
  ['an owner API without TLS', { OWNER_SSO_API_URL: 'http://api.example.com' }, 'https', 0],
  ['a pause that is none', { POLL_SECONDS: 'soon' }, 'POLL_SECONDS', 0],
])('ends at once, for a person to look, with %s', async (_, environment, words, formPosts) => {
  const poller = start(environment)
  const [code] = await once(poller.child, 'close')
  expect([code, poller.said()]).toEqual([78, expect.stringContaining(words)])
  expect(emulator.counters.formPosts).toBe(formPosts)
})

it('signs in again once the refresh token is dead, and not a second time the same day', async () => {
  const poller = start()
  await poller.logs('signed in')
  await poller.stop()
  emulator.expireRefreshTokens('ann@example.com')
  emulator.clock.advance(nineHours)
  const later = start({ TEST_CLOCK_AHEAD: String(nineHours) })
  await later.logs('this poll failed')
  await later.logs('signed in')
  expect(emulator.counters.codeExchanges).toBe(2)
  emulator.revokeAccessTokens('ann@example.com')
  emulator.expireRefreshTokens('ann@example.com')
  await later.logs('this poll failed')
  await later.logs('this poll failed')
  expect(emulator.counters.codeExchanges).toBe(2)
  // A clock that was set back keeps nobody out for longer.
  emulator.clock.advance(60)
  later.child.kill('SIGHUP')
  await later.logs('signed in')
  expect(await later.stop()).toBe(0)
  expect(emulator.counters.codeExchanges).toBe(3)
})

it('keeps one token set, however the account, its password and its secret are spelled', async () => {
  const secrets = { OWNER_SSO_CREDENTIAL: `${credential}\n`, OWNER_SSO_TOTP_SECRET: 'krsx-g5ct mvrx\u2011ezlu\r\n' }
  const first = start({ OWNER_SSO_ACCOUNT: 'Ann@Example.com\n', ...secrets })
  await first.logs('"vehicle"')
  await first.stop()
  const second = start()
  await second.logs('"vehicle"')
  expect(await second.stop()).toBe(0)
  expect(emulator.counters.codeExchanges).toBe(1)
})

it('goes on when the owner API has been away', async () => {
  emulator.once('owner-api', { status: 503 })
  const poller = start()
  await poller.logs('this poll failed')
  await poller.logs('"vehicle"')
  expect(await poller.stop()).toBe(0)
})

it('goes on when its log has no room, and still ends when it is told to', async () => {
  const full = openSync('/dev/full', 'w')
  const poller = start({}, full)
  closeSync(full)
  while (emulator.counters.ownerApiCalls < 3) await new Promise((resolve) => setTimeout(resolve, 20))
  expect(await poller.stop()).toBe(0)
  expect(emulator.counters.codeExchanges).toBe(1)
})

it('signs in and calls over the transport that it is told', async () => {
  const accounts = [{ identity: 'ann@example.com', credential, totpSecret }]
  await using modern = await startEmulator({ tls: true, http2: true, strictness: 'lenient', accounts })
  const poller = start({
    OWNER_SSO_AUTH_URL: modern.authUrl,
    OWNER_SSO_API_URL: modern.ownerApiUrl,
    OWNER_SSO_TRANSPORT: JSON.stringify({
      tls: { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3', ca: modern.ca },
      http2: true,
    }),
  })
  await poller.logs('"vehicle"')
  expect(await poller.stop()).toBe(0)
  const { host } = new URL(modern.authUrl)
  const wires = modern.requests.map((each) => `${each.host === host} ${each.tlsVersion} ${each.httpVersion}`)
  expect(new Set(wires)).toEqual(new Set(['true TLSv1.3 2', 'false TLSv1.3 1.1']))
})

interface Poller {
  readonly child: ChildProcess
  readonly said: () => string
  /** Waits for a line with this text, after the one that was waited for before. */
  readonly logs: (text: string) => Promise<void>
  readonly stop: () => Promise<number | null>
}

/** @param log - where its standard output goes in place of `logs` */
function start(env: NodeJS.ProcessEnv = {}, log: 'pipe' | number = 'pipe'): Poller {
  const child = spawn(process.execPath, ['--require', clock, main], {
    cwd: folder,
    stdio: ['ignore', log, 'pipe'],
    env: {
      PATH: process.env['PATH'],
      OWNER_SSO_AUTH_URL: emulator.authUrl,
      OWNER_SSO_API_URL: emulator.ownerApiUrl,
      OWNER_SSO_ACCOUNT: 'ann@example.com',
      OWNER_SSO_CREDENTIAL: credential,
      OWNER_SSO_TOTP_SECRET: totpSecret,
      POLL_SECONDS: '0.1',
      ...env,
    },
  })
  running.push(child)
  let said = ''
  let seen = 0
  const wake = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      said += chunk
      for (const look of wake) look()
    })
  }
  return {
    child,
    said: () => said,
    logs: (text) =>
      new Promise((resolve, reject) => {
        const ended = (): void => reject(new Error(`It never logged ${text}, but: ${said}`))
        const look = (): void => {
          const at = said.indexOf(text, seen)
          if (at === -1) return
          seen = at + text.length
          wake.delete(look)
          child.off('close', ended)
          resolve()
        }
        wake.add(look)
        child.once('close', ended)
        look()
      }),
    async stop() {
      const closed = once(child, 'close')
      child.kill('SIGTERM')
      const [code] = await closed
      return code
    },
  }
}

function tokensOf(path: string): string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .flatMap(
      (entry) => readFileSync(join(entry.parentPath ?? entry.path, entry.name), 'utf8').match(/ey[\w.-]{40,}/gu) ?? [],
    )
}
