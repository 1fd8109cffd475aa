/** `owner-sso broker` as real processes: who listens, who is let in, and who gets nothing any more. */
import { spawn, type ChildProcess } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs'
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http'
import { request as requestOverTls } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { notebook } from '@owner-sso/core'
import { useEmulator } from '@owner-sso/emulator/jest'
import { fileTokenStore } from '@owner-sso/token-store-file'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { generate } from 'selfsigned'
import { describeWithMosquitto, retained, startMosquitto } from '../../../tests/support/mosquitto.ts'
import { startReceiver } from '../../../tests/support/webhook-receiver.ts'
import { useMachine } from './machine.ts'
import { storeLogin } from './signed-in.ts'

const account = 'plain@example.com'
const emulator = useEmulator()
const machine = useMachine(emulator)

beforeEach(async () => {
  await storeLogin(machine, emulator, account)
})

/** A broker that listens, and the first address that it printed. */
async function started(
  ...args: string[]
): Promise<{ child: ChildProcess; url: string; printed: string; notes: () => string }> {
  const child = machine.start(['broker', ...args])
  let notes = ''
  child.stderr?.on('data', (chunk) => {
    notes += String(chunk)
  })
  if (child.stdout === null) throw new Error('It has no standard output.')
  const [first]: unknown[] = await once(child.stdout, 'data', { signal: AbortSignal.timeout(60_000) })
  return { child, url: String(first).split('\n')[0] ?? '', printed: String(first), notes: () => notes }
}

async function invite(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await machine.run(['broker', 'invite', ...args])
  expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('It is shown once.') })
  return stdout.trim()
}

/** What a program that was let in does at the token endpoint. */
async function refreshed(
  url: string,
  refresh_token: string,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const body = { grant_type: 'refresh_token', client_id: 'ownerapi', refresh_token }
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${url}/oauth2/v3/token`, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

function fromSocket(socketPath: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    request({ socketPath, path }, (response) => resolve(text(response)))
      .on('error', reject)
      .end()
  })
}

/** A named pipe that takes nothing more until it is read. */
async function fullPipe(path: string): Promise<{ read: () => string; close: () => void }> {
  await once(spawn('mkfifo', [path]), 'exit')
  const pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  /** Until the pipe is full, or empty. */
  const asFarAsItGoes = (act: () => void): void => {
    try {
      for (;;) act()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
    }
  }
  asFarAsItGoes(() => writeSync(pipe, ' '))
  const read = (): string => {
    const chunk = Buffer.alloc(65_536)
    let content = ''
    asFarAsItGoes(() => {
      content += chunk.toString('utf8', 0, readSync(pipe, chunk))
    })
    return content
  }
  return { read, close: () => closeSync(pipe) }
}

async function stopped(child: ChildProcess): Promise<number | null> {
  const end = once(child, 'exit')
  child.kill('SIGINT')
  const [code]: unknown[] = await end
  return typeof code === 'number' ? code : null
}

describe('owner-sso broker', () => {
  it('hands the token out on a socket that only this user can open, and removes it when it ends', async () => {
    const { child, url } = await started()
    const socket = join(machine.home, '.config', 'owner-sso', 'broker.sock')
    expect(url).toBe(`unix:${socket}`)
    expect(statSync(socket).mode & 0o777).toBe(0o600)
    const token = (await machine.run(['token'])).stdout.trim()
    expect((await fromSocket(socket, '/token')).trim()).toBe(token)
    expect(await stopped(child)).toBe(0)
    expect(() => statSync(socket)).toThrow('ENOENT')
  }, 90_000)

  it('shows an invited program the calls that its scope allows, at the address where the broker is', async () => {
    const notes = async (...args: string[]): Promise<string> => {
      const { stderr } = await machine.run(['broker', 'invite', ...args])
      return stderr
    }
    const call = (url: string): string => `curl -H "Authorization: Bearer …" ${url}`
    const at = ['--public-url', 'http://127.0.0.1:43121'] as const
    const caller = await notes('caller', '--scope', 'proxy', ...at)
    expect(caller).toContain(call('http://127.0.0.1:43121/api/1/vehicles'))
    expect(caller).not.toContain('/token')
    expect(caller).toContain('was started with --with-proxy')
    const reader = await notes('reader', ...at)
    expect(reader).toContain(call('http://127.0.0.1:43121/token'))
    expect(reader).not.toContain('/api/')
    const both = await notes('both', '--scope', 'token,proxy')
    expect(both).toContain(call('ADDRESS/token'))
    expect(both).toContain(call('ADDRESS/api/1/vehicles'))
    expect(both).toContain('ADDRESS is what owner-sso broker prints')
    expect(caller + reader + both).not.toContain('is not signed in')
    const early = await notes('early', '--account', 'Nobody@example.com')
    expect(early).toContain('nobody@example.com is not signed in: early gets nothing until it is.')
    expect(early).toContain('owner-sso login --account nobody@example.com')
  }, 90_000)

  it('says where it listens, and what to do there, and ends when its audit log is written, however slow that is', async () => {
    const [socket, audit] = [join(machine.home, 'here.sock'), join(machine.home, 'slow.log')]
    const log = await fullPipe(audit)
    const { child, printed, notes } = await started('--json', '--port', '0', '--socket', socket, '--audit', audit)
    const { urls } = JSON.parse(printed) as { urls: string[] }
    expect(urls).toEqual([expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/u), `unix:${socket}`])
    await until(async () => notes().includes('Ctrl-C'))
    const said = notes().trimEnd().split('\n')
    expect(said.map((line): unknown => JSON.parse(line))).toEqual([
      { note: `Status page: ${urls[0]}/status (for a code: owner-sso broker code)` },
      { note: `Let a program in: owner-sso broker invite NAME --public-url ${urls[0]}` },
      { note: `A token: curl --unix-socket ${socket} http://broker/token` },
      { note: 'Ctrl-C ends it.' },
    ])
    for (let calls = 0; calls < 3; calls += 1) expect((await fetch(`${urls[0]}/token`)).status).toBe(401)
    const end = stopped(child)
    await until(async () => !existsSync(socket))
    expect(child.exitCode).toBeNull()
    let written = ''
    await until(async () => {
      written += log.read()
      return child.exitCode !== null
    })
    written += log.read()
    log.close()
    expect(await end).toBe(0)
    expect(written.trim().split('\n')).toHaveLength(3)
  })

  it('lets a program in, lists it, gives it another secret, and shuts it out, while it listens', async () => {
    const audit = join(machine.home, 'audit.log')
    const { child, url, notes } = await started(
      '--port',
      '0',
      '--audit',
      audit,
      '--public-url',
      'https://broker.home.example',
    )
    const first = await invite('heating', '--expires', '365d')
    const token = (await machine.run(['token'])).stdout.trim()
    expect(await refreshed(url, first)).toMatchObject({
      status: 200,
      body: { access_token: token, refresh_token: first },
    })

    const again = await machine.run(['broker', 'invite', 'heating'])
    expect(again).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('heating') })
    const rotated = await machine.run(['broker', 'rotate', 'heating', '--json'])
    const { refresh_token: second, ...facts } = JSON.parse(rotated.stdout) as { refresh_token: string }
    expect(facts).toMatchObject({ name: 'heating', accounts: [account], scope: ['token'] })
    expect([(await refreshed(url, first)).status, (await refreshed(url, second)).status]).toEqual([400, 200])

    const { clients } = JSON.parse((await machine.run(['broker', 'list', '--json'])).stdout) as { clients: object[] }
    expect(clients).toMatchObject([
      { name: 'heating', accounts: [account], scope: ['token'], expires_at: expect.any(Number) },
    ])
    expect((await machine.run(['broker', 'list'])).stdout).toMatch(
      /^heating +plain@example\.com +token +expires \d{4}-\d\d-\d\d \S+ \S+ +\d+ calls? /u,
    )

    expect((await machine.run(['broker', 'revoke', 'heating'])).code).toBe(0)
    expect(await refreshed(url, second)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect((await machine.run(['broker', 'revoke', 'heating'])).code).toBe(2)

    const { stdout: code } = await machine.run(['broker', 'code'])
    expect(code).toMatch(/^[A-Z2-9]{4}(?:-[A-Z2-9]{4}){3}\n$/u)
    expect(await (await fetch(`${url}/status`)).text()).toContain('Enter the code')
    // Under its public name too, and as a page that is reached over https.
    const [seen] = await once(request(`${url}/status`, { headers: { host: 'broker.home.example' } }).end(), 'response')
    seen.resume()
    const [api] = await once(request(`${url}/token`, { headers: { host: 'broker.home.example' } }).end(), 'response')
    api.resume()
    expect(api.statusCode).toBe(401)
    expect([seen.statusCode, seen.headers['strict-transport-security']]).toEqual([200, 'max-age=31536000'])
    expect(seen.headers['set-cookie'][0]).toMatch(/; Path=\/status; .*; Secure$/u)
    expect(await stopped(child)).toBe(0)
    const log = readFileSync(audit, 'utf8')
    expect(log).toContain('"client":"heating","account":"plain@example.com"')
    expect([first, second, token].some((secret) => log.includes(secret) || notes().includes(secret))).toBe(false)
    expect(statSync(audit).mode & 0o777).toBe(0o600)
  }, 180_000)

  it('goes on with its audit log once that can be written again', async () => {
    const folder = join(machine.home, 'logs')
    const audit = join(folder, 'audit.log')
    const { child, url, notes } = await started('--port', '0', '--audit', audit)
    const call = async () => expect((await fetch(`${url}/token`)).status).toBe(401)
    await call()
    await until(async () => notes().includes('The audit log can’t be written'))
    mkdirSync(folder)
    await until(async () => {
      await call()
      return existsSync(audit)
    })
    expect(await stopped(child)).toBe(0)
    expect(readFileSync(audit, 'utf8')).toMatch(/^(?:\{.*"ERR_BROKER_UNKNOWN_KEY"\}\n)+$/u)
    expect(notes().match(/The audit log can’t be written: ENOENT/gu)).toHaveLength(1)
  })

  it('tells its operator of a key that no program has, once, on the terminal and on the page', async () => {
    const { child, url, notes } = await started('--port', '0')
    for (const key of ['owner-sso-mistyped', 'owner-sso-another'])
      expect((await fetch(`${url}/token`, { headers: { authorization: `Bearer ${key}` } })).status).toBe(401)
    const said = 'A program was rejected: it sent no key, or one that is mistyped, expired, revoked or replaced.'
    await until(async () => notes().includes(said))
    const { stdout: code } = await machine.run(['broker', 'code'])
    const entry = await fetch(`${url}/status`)
    const cookie = entry.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    const [, token = ''] = /name="_csrf" value="([^"]+)"/u.exec(await entry.text()) ?? []
    const body = new URLSearchParams({ _csrf: token, code })
    const entered = await fetch(`${url}/status/enter`, {
      method: 'POST',
      body,
      headers: { cookie },
      redirect: 'manual',
    })
    const inside = { cookie: entered.headers.getSetCookie()[0]?.split(';')[0] ?? '' }
    expect(await (await fetch(`${url}/status`, { headers: inside })).text()).toContain(said)
    expect(await stopped(child)).toBe(0)
    expect([notes().split(said).length, notes().includes('owner-sso-')]).toEqual([2, false])
  }, 60_000)

  it('says where it can’t make the folder of its socket', async () => {
    const home = machine.file('home', '')
    const { code, stderr } = await machine.run(['broker', '--store', `file:${machine.tokensFolder}`], {
      env: { HOME: home },
    })
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('can’t be made (ENOTDIR)') })
  })

  it('forwards calls of the owner API for programs with that scope alone', async () => {
    const { url } = await started('--port', '0', '--with-proxy')
    const statusWith = async (key: string): Promise<number> =>
      (await fetch(`${url}/api/1/vehicles`, { headers: { authorization: `Bearer ${key}` } })).status
    const [reader, caller] = [
      await invite('reader'),
      await invite('caller', '--scope', 'proxy', '--calls-per-minute', '2'),
    ]
    expect([await statusWith(reader), await statusWith(caller), await statusWith('x')]).toEqual([403, 200, 401])
    // As often in a minute as it was invited for.
    expect([await statusWith(caller), await statusWith(caller)]).toEqual([200, 429])
  }, 120_000)

  it('speaks TLS with a certificate of its own, or leaves that to a proxy in front', async () => {
    const host = 'broker.example.com'
    const { cert, private: certKey } = await generate([{ name: 'commonName', value: host }], {
      keySize: 2048,
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: host }] }],
    })
    const tls = ['--tls-cert', machine.file('cert.pem', cert), '--tls-key', machine.file('key.pem', certKey)]
    const authorization = `Bearer ${await invite('heating')}`
    const token = (await machine.run(['token'])).stdout.trim()
    for (const way of [tls, ['--behind-tls-proxy']]) {
      const open = ['--port', '0', '--host', '0.0.0.0', '--public-url', `https://${host}`]
      const { child, url } = await started(...open, ...way)
      const get = async (path: string, headers: OutgoingHttpHeaders): Promise<object> => {
        const asked = new URL(path, url.replace('0.0.0.0', '127.0.0.1'))
        const options = { ca: cert, servername: host, headers: { host, ...headers } }
        const [answer]: IncomingMessage[] = await once(
          (way === tls ? requestOverTls : request)(asked, options).end(),
          'response',
        )
        if (answer === undefined) throw new Error('There is no answer.')
        return { status: answer.statusCode, cookie: String(answer.headers['set-cookie']), text: await text(answer) }
      }
      expect(await get('/token', { authorization })).toMatchObject({ status: 200, text: token })
      expect(await get('/status', {})).toMatchObject({ cookie: expect.stringMatching(/^__Secure-.*; Secure/u) })
      expect(await get('/token', { authorization, host: 'evil.example' })).toMatchObject({ status: 421 })
      expect([new URL(url).protocol, await stopped(child)]).toEqual([way === tls ? 'https:' : 'http:', 0])
    }
  }, 120_000)

  it('tells a webhook, once, that an account has to sign in again', async () => {
    const { url: hook, received, close } = await startReceiver()
    try {
      const secret = Buffer.alloc(32, 7).toString('base64')
      machine.env['OWNER_SSO_ALERT_SECRET'] = secret
      const page = 'https://broker.example/status'
      const alerts = ['--alert-webhook', hook, '--public-url', new URL(page).origin]
      const { child, url } = await started('--port', '0', ...alerts)
      const key = await invite('heating')
      emulator.expireRefreshTokens(account)
      await machine.run(['refresh'])
      // Each call of a program makes the broker look.
      const told = (times: number): Promise<void> =>
        until(async () => {
          await refreshed(url, key)
          return received.length === times
        })
      await told(1)
      await storeLogin(machine, emulator, account)
      await told(2)
      expect(await stopped(child)).toBe(0)
      for (const { headers, body } of received) {
        const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`
        const signature = createHmac('sha256', Buffer.from(secret, 'base64')).update(signed).digest('base64')
        expect(headers['webhook-signature']).toBe(`v1,${signature}`)
      }
      expect(received.map(({ body }) => JSON.parse(body))).toMatchObject([
        { type: 'sign-in.needed', data: { account, sign_in_url: page } },
        { type: 'sign-in.restored', data: { account, sign_in_url: page } },
      ])
    } finally {
      await close()
    }
  }, 180_000)
})

describeWithMosquitto('an MQTT server', () => {
  it('is told that an account has to sign in again', async () => {
    const [username, password] = ['broker', 'a-password']
    const server = await startMosquitto(username, password)
    try {
      const env = { OWNER_SSO_ALERT_MQTT_USERNAME: username, OWNER_SSO_ALERT_MQTT_PASSWORD: password }
      const alerts = ['--alert-mqtt', `mqtt://127.0.0.1:${server.port}`, '--alert-topic', 'home']
      const child = machine.start(['broker', '--port', '0', ...alerts], { env })
      const [first]: unknown[] = await once(child.stdout!, 'data')
      const complaint = new Promise((resolve) => {
        child.stderr?.on('data', (chunk) => /mqtt/iu.test(String(chunk)) && resolve(String(chunk)))
      })
      const secret = await invite('heating')
      emulator.expireRefreshTokens(account)
      await machine.run(['refresh'])
      // The call of a program makes the broker look.
      await refreshed(String(first).split('\n')[0] ?? '', secret)
      const kept = await Promise.race([retained(server, { username, password }, 'home/+', 1), complaint])
      expect(kept).toEqual(new Map([[`home/${account}`, expect.stringContaining('sign-in.needed')]]))
      expect(await stopped(child)).toBe(0)
    } finally {
      await server.close()
    }
  }, 120_000)
})

describe('an invitation', () => {
  it('that has expired is listed so, and a new key for it is told to be of no use', async () => {
    const keys = [{ sha256: 'ab'.repeat(32) }]
    const expires_at = Date.parse('2020-01-31T12:00:00Z') / 1000
    const store = fileTokenStore({ path: machine.tokensFolder })
    await notebook(store, 'clients').change(() => ({
      clients: [
        { name: 'old', accounts: [account], scope: ['token'], expires_at, keys },
        { name: 'other', accounts: [account], scope: ['proxy'], keys },
      ],
    }))
    const { stdout } = await machine.run(['broker', 'list'])
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(/^old +plain@example\.com +token +expired 2020-01-31 \S+ \S+ +0 calls +never used$/u),
      expect.stringMatching(/^other +plain@example\.com +proxy +no expiry +0 calls +never used$/u),
      '',
    ])
    const { stderr } = await machine.run(['broker', 'rotate', 'old'])
    expect(stderr).toContain('old has expired, and so has this key. Revoke it, and invite it again.')
  })

  it.each([
    ['30d', 30 * 86_400],
    ['12h', 43_200],
    ['90m', 5400],
  ])('for %s ends then', async (written, seconds) => {
    const before = Math.floor(Date.now() / 1000)
    const { stdout } = await machine.run(['broker', 'invite', 'heating', '--expires', written, '--json'])
    const { expires_at } = JSON.parse(stdout)
    expect(expires_at).toBeGreaterThanOrEqual(before + seconds)
    expect(expires_at).toBeLessThanOrEqual(Date.now() / 1000 + seconds)
  })

  it.each([
    ['2130-01-31', Date.UTC(2130, 0, 31) / 1000],
    ['2130-01-31T00:00:01Z', Date.UTC(2130, 0, 31) / 1000 + 1],
    [undefined, undefined],
  ])('until %s ends at %s', async (written, at) => {
    const args = written === undefined ? [] : ['--expires', written]
    const { stdout } = await machine.run(['broker', 'invite', 'heating', ...args, '--json'])
    expect(JSON.parse(stdout).expires_at).toBe(at)
  })

  it.each([
    ['invite a --expires 0d', 'Give --expires a duration'],
    ['invite a --expires 30', 'Give --expires a duration'],
    ['invite a --expires 2020-01-31', 'Give --expires a duration'],
    ['invite a --scope all', 'Give --scope token, proxy, or token,proxy'],
    ['invite a --calls-per-minute 0', 'callsPerMinute must be a whole number above 0'],
    ['invite', 'owner-sso broker invite NAME'],
    ['invite a b', 'takes one name'],
    ['list more', 'takes no name'],
    ['refuel', 'It can: serve, invite, list, rotate, revoke, code'],
    ['revoke nobody', 'See owner-sso broker list'],
    ['--port 65536', 'Give --port a number from 0'],
    ['--port 0 --host 0.0.0.0', '--behind-tls-proxy'],
    ['--port 0 --tls-cert /dev/null', 'Give both --tls-cert and --tls-key'],
    ['--port 0 --tls-cert nowhere --tls-key nowhere', 'Correct --tls-cert'],
    ['--public-url https://broker.example.com/path', 'Give --public-url a scheme and a host'],
    ['--public-url https://ann@broker.example.com', 'Give --public-url a scheme and a host'],
    ['--alert-webhook https://a.example', 'Set OWNER_SSO_ALERT_SECRET'],
    ['--alert-mqtt http://a.example', 'Correct --alert-mqtt'],
    ['--socket nowhere/here.sock', 'Choose another --port, --host or --socket'],
  ])('or a broker with wrong options is rejected, with what to do: %s', async (args, next) => {
    const { code, stdout, stderr } = await machine.run(['broker', ...args.split(' ')])
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(next) })
  })
})

/** Waits for what no event tells. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 90_000
  while (!(await condition())) {
    if (Date.now() > end) throw new Error('Never came true.')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
