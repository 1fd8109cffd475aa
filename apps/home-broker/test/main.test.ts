/** The broker of a household as the container runs it: as a user without rights, in a folder of its own. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { type IncomingMessage, type OutgoingHttpHeaders, request as httpRequest } from 'node:http'
import { createServer, request as httpsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, it } from '@jest/globals'
import { brokerClients } from '@owner-sso/broker'
import { createSso, createTokenManager, notebook } from '@owner-sso/core'
import { useEmulator } from '@owner-sso/emulator/jest'
import { fileTokenStore } from '@owner-sso/token-store-file'
import { generate } from 'selfsigned'
import { parse } from 'yaml'
import { hasContainerEngine } from '../../../tests/support/container-engine.ts'
import { freePort } from '../../../tests/support/free-port.ts'
import { SettingsError, settingsFrom } from '../src/settings.ts'

const textOf = (name: string): string => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')
const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const command = fileURLToPath(new URL('../../../packages/cli/dist/main.cjs', import.meta.url))
const account = 'plain@example.com'
const emulator = useEmulator()
const children: ChildProcess[] = []
const data = mkdtempSync(join(tmpdir(), 'owner-sso-home-'))

const user = userWithoutRights()
chmodSync(data, 0o700)
if (user !== undefined) chownSync(data, user.uid, user.gid)

afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }
  rmSync(data, { recursive: true, force: true })
})

/** Nobody, where the test may be somebody else who may read the clone and run this Node: below /root only root may. */
function userWithoutRights(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const nobody = { uid: 65_534, gid: 65_534 }
  if (spawnSync(process.execPath, ['--check', main], { cwd: tmpdir(), ...nobody }).status === 0) return nobody
  console.warn(
    `Run as root: no other user can read ${main}, or run ${process.execPath}. Clone to a folder that all may enter.`,
  )
  return undefined
}

const environment = (): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  HOME: data,
  PORT: '0',
  OWNER_SSO_AUTH_URL: emulator.authUrl,
  OWNER_SSO_API_URL: emulator.ownerApiUrl,
  OWNER_SSO_STORE: `file:${data}/tokens`,
  OWNER_SSO_KEYRING: 'off',
})

/** The command line, as `docker compose exec` runs it. */
async function ownerSso(...args: string[]): Promise<string> {
  const env = { ...environment(), OWNER_SSO_CREDENTIAL: 'correct horse' }
  const child = spawn(process.execPath, [command, ...args], {
    env,
    cwd: data,
    stdio: ['ignore', 'pipe', 'ignore'],
    ...user,
  })
  children.push(child)
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += String(chunk)
  })
  await once(child, 'close')
  return output.trim()
}

/** What the health check of the container ends with. */
function healthAt(port: string): number | null {
  const [, check = ''] = /^HEALTHCHECK .*CMD (.*)$/mu.exec(textOf('Dockerfile')) ?? []
  const [program = '', ...args]: string[] = JSON.parse(check)
  return spawnSync(program, args, { env: { PATH: process.env['PATH'], PORT: port }, timeout: 60_000 }).status
}

it('runs as a user without rights, serves who was let in, and ends in order', async () => {
  const child = spawn(process.execPath, [main], {
    env: { ...environment(), OWNER_SSO_TRANSPORT: '{"userAgent":"home/1"}' },
    cwd: data,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...user,
  })
  children.push(child)
  const errors = text(child.stderr)
  let log = ''
  child.stdout.on('data', (chunk) => {
    log += String(chunk)
  })
  await Promise.race([once(child.stdout, 'data', { signal: AbortSignal.timeout(60_000) }), once(child, 'close')])
  const { url, page }: { url: string; page: string } = JSON.parse(log.split('\n')[0] ?? '')
  expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ alive: true })
  expect(await (await fetch(page)).text()).toContain('Enter the code')
  expect(healthAt(new URL(url).port)).toBe(0)

  await ownerSso('login', '--account', account, '--no-input')
  const key = await ownerSso('broker', 'invite', 'heating', '--scope', 'token,proxy')
  const headers = { authorization: `Bearer ${key}` }
  const token = (await (await fetch(`${url}/token`, { headers })).text()).trim()
  expect(token).toBe(await ownerSso('token'))
  expect(await (await fetch(`${url}/api/1/vehicles`, { headers })).json()).toMatchObject({ count: 2 })
  expect(emulator.requests.at(-1)?.headers['user-agent']).toBe('home/1')
  expect(await ownerSso('broker', 'code')).toMatch(/^[A-Z2-9]{4}(?:-[A-Z2-9]{4}){3}$/u)

  while (!log.includes('"client":"heating"')) await once(child.stdout, 'data')
  // Nobody reads its log any more: it goes on.
  child.stdout.destroy()
  expect((await fetch(`${url}/token`, { headers })).status).toBe(200)
  expect((await fetch(`${url}/token`, { headers })).status).toBe(200)

  const end = once(child, 'exit')
  // It would open Node's debugger to every user of the machine.
  child.kill('SIGUSR1')
  child.kill('SIGTERM')
  expect(await end).toEqual([0, null])
  // In the words of this program, once, after it listens.
  const events = log.split('\n').map((line) => /"event":"(.*?)"/u.exec(line)?.[1])
  expect(events.slice(0, 2)).toEqual(['listening', 'unencrypted'])
  expect(log.match(/unencrypted\..*OWNER_SSO_ENCRYPTION_KEY/gu)).toHaveLength(1)
  expect(await errors).toBe('')
  expect([log.includes(token), log.includes(key), log.includes('"client":"heating"')]).toEqual([false, false, true])
  expect(statSync(join(data, 'tokens')).mode & 0o077).toBe(0)
  // One volume: nothing is written elsewhere in the home of the user.
  expect(readdirSync(data).filter((name) => !['tokens', '.cache', '.config'].includes(name))).toEqual([])
}, 120_000)

/** The status and the text of an answer; of a call under the public name of the broker. */
async function call(url: string, ca: string, headers: OutgoingHttpHeaders) {
  const options = { ca, servername: 'broker.example.com', headers: { host: 'broker.example.com', ...headers } }
  const [answer]: IncomingMessage[] = await once(httpsRequest(url, options).end(), 'response')
  if (answer === undefined) throw new Error('There is no answer.')
  return { status: answer.statusCode, cookie: String(answer.headers['set-cookie'] ?? ''), text: await text(answer) }
}

const broker = [command, 'broker', '--audit', 'audit.log', '--port', '0', '--public-url', 'https://broker.example.com']

it.each([
  ['the home broker', [main], [main]],
  [
    'owner-sso broker',
    [...broker, '--host', '0.0.0.0', '--tls-cert', 'cert.pem', '--tls-key', 'key.pem'],
    [...broker, '--behind-tls-proxy'],
  ],
])(
  '%s speaks TLS itself, or has a proxy that does',
  async (_, alone, proxied) => {
    const folder = mkdtempSync(join(tmpdir(), 'owner-sso-tls-'))
    const { cert, private: certKey } = await generate([{ name: 'commonName', value: 'broker.example.com' }], {
      keySize: 2048,
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'broker.example.com' }] }],
    })
    writeFileSync(join(folder, 'cert.pem'), cert)
    writeFileSync(join(folder, 'key.pem'), certKey, { mode: 0o600 })
    const store = fileTokenStore({ path: join(folder, 'tokens'), encryptionKey: Buffer.alloc(32, 7) })
    const sso = createSso({ authUrl: emulator.authUrl })
    const tokens = createTokenManager({ sso, store })
    await tokens.save(account, await sso.login({ identity: account, credential: 'correct horse' }))
    const { refresh_token: key } = await brokerClients({ store }).invite({ name: 'heating', accounts: [account] })

    // As a list that was written by hand may have it: what a terminal would obey, in whatever form.
    const hostile = '\0\u001B[2J\u009B31m\r\n\u202E\u2066"<i>/../\uD83D'
    await notebook(store, 'clients').change(({ clients }) => ({ clients: [{ ...Object(clients)[0], name: hostile }] }))

    const listening = async (args: readonly string[], env: NodeJS.ProcessEnv) => {
      const own = {
        OWNER_SSO_STORE: `file:${folder}/tokens`,
        OWNER_SSO_ENCRYPTION_KEY: 'BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=',
      }
      const child = spawn(process.execPath, args, {
        env: { ...environment(), ...own, OWNER_SSO_PUBLIC_URL: 'https://broker.example.com', ...env },
        cwd: folder,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      children.push(child)
      let log = ''
      for (const output of [child.stdout, child.stderr]) output.on('data', (chunk) => (log += String(chunk)))
      await once(child.stdout, 'data', { signal: AbortSignal.timeout(60_000) })
      const [, scheme = '', port = ''] = /(https?):\/\/[\d.]+:(\d+)/u.exec(log) ?? []
      const ended = async (): Promise<unknown> => {
        const closed = once(child, 'close')
        child.kill('SIGTERM')
        await closed
        const audit = join(folder, 'audit.log')
        const lines = (existsSync(audit) ? readFileSync(audit, 'utf8') : log).split('\n')
        const [line = ''] = lines.filter((each) => each.includes('"by":"get"')).slice(-1)
        expect(line).not.toMatch(/[\p{Cc}\p{Bidi_Control}\p{Cs}]/u)
        const { client, address }: Record<string, unknown> = JSON.parse(line)
        expect(client).toBe(hostile)
        return address
      }
      return { scheme, port, ended }
    }
    // Whatever a caller says of where it comes from.
    const headers = { authorization: `Bearer ${key}`, 'x-forwarded-for': '198.51.100.1' }

    const open = await listening(alone, {
      HOST: '0.0.0.0',
      OWNER_SSO_TLS_CERT: 'cert.pem',
      OWNER_SSO_TLS_KEY: 'key.pem',
    })
    const direct = `https://127.0.0.1:${open.port}`
    const token = await tokens.getAccessToken(account)
    expect([open.scheme, await call(`${direct}/token`, cert, headers)]).toMatchObject([
      'https',
      { status: 200, text: token },
    ])
    expect((await call(`${direct}/status`, cert, {})).cookie).toContain('__Secure-')
    await expect(fetch(`http://127.0.0.1:${open.port}/token`, { headers })).rejects.toThrow('fetch failed')
    expect(await open.ended()).toBe('127.0.0.1')

    const hidden = await listening(proxied, { OWNER_SSO_BEHIND_TLS_PROXY: '1' })
    const proxy = createServer(
      { cert, key: certKey },
      ({ url, headers: { 'x-forwarded-for': before, ...sent } }, answer) => {
        const forwarded = httpRequest(`http://127.0.0.1:${hidden.port}${url}`, {
          headers: { ...sent, 'x-forwarded-for': `${String(before)}, 192.0.2.7` },
        })
        forwarded.on('response', (got) => got.pipe(answer.writeHead(got.statusCode ?? 0, got.headers))).end()
      },
    ).listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const address = proxy.address()
    const through = `https://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
    expect([hidden.scheme, await call(`${through}/token`, cert, headers)]).toMatchObject([
      'http',
      { status: 200, text: token },
    ])
    expect((await call(`${through}/status`, cert, {})).cookie).toContain('__Secure-')
    expect((await call(`${through}/token`, cert, { ...headers, host: 'evil.example' })).text).toContain(
      'ERR_BROKER_HOST',
    )
    expect(await hidden.ended()).toBe('192.0.2.7')
    proxy.closeAllConnections()
    proxy.close()
    rmSync(folder, { recursive: true, force: true })
  },
  120_000,
)

it.each([
  ['OWNER_SSO_AUTH_URL', ''],
  ['OWNER_SSO_TOKEN_URL', '{'],
  ['OWNER_SSO_SERVICE', 'today'],
  ['OWNER_SSO_TRANSPORT', 'quic'],
  ['OWNER_SSO_STORE', 'memory:'],
  ['OWNER_SSO_STORE', '"file:data"'],
  ['OWNER_SSO_STORE', 'file:~/data'],
  ['OWNER_SSO_STORE', 'redis:'],
  ['OWNER_SSO_ENCRYPTION_KEY', 'short'],
  ['PORT', '70000'],
  ['OWNER_SSO_TLS_CERT', 'cert.pem'],
  ['OWNER_SSO_TLS_KEY', 'key.pem'],
  ['OWNER_SSO_PUBLIC_URL', 'broker'],
  ['OWNER_SSO_HOSTS', 'broker.home.example:8700'],
  ['OWNER_SSO_BEHIND_TLS_PROXY', 'yes'],
])('names a %s that can’t be used', (name, value) => {
  const given = { OWNER_SSO_AUTH_URL: 'https://auth.example.com', OWNER_SSO_STORE: 'file:data', [name]: value }
  expect(() => settingsFrom(given)).toThrow(SettingsError)
  expect(() => settingsFrom(given)).toThrow(name)
})

it('takes the redirect address and the transport of the service', () => {
  const given = { OWNER_SSO_AUTH_URL: 'https://auth.example.com', OWNER_SSO_STORE: 'file:data' }
  const more = {
    OWNER_SSO_SERVICE: 'current',
    OWNER_SSO_REDIRECT_URI: 'owner-app://auth/callback',
    OWNER_SSO_TRANSPORT: '{"http2":true}',
  }
  expect(settingsFrom({ ...given, ...more })).toMatchObject({
    sso: { service: 'current', redirectUri: 'owner-app://auth/callback', transport: { http2: true } },
  })
})

it('names a certificate that is none', () => {
  const file = fileURLToPath(import.meta.url)
  const given = {
    OWNER_SSO_AUTH_URL: 'https://a.example',
    OWNER_SSO_STORE: 'file:data',
    OWNER_SSO_TLS_CERT: file,
    OWNER_SSO_TLS_KEY: file,
  }
  expect(() => settingsFrom(given)).toThrow(SettingsError)
  expect(() => settingsFrom(given)).toThrow('OWNER_SSO_TLS_CERT')
})

it('wants a secret for its webhook', () => {
  const given = {
    OWNER_SSO_AUTH_URL: 'https://a.example',
    OWNER_SSO_STORE: 'file:data',
    OWNER_SSO_ALERT_WEBHOOK: 'https://h.example',
  }
  expect(() => settingsFrom(given)).toThrow('OWNER_SSO_ALERT_SECRET')
  const { webhook } = settingsFrom({ ...given, OWNER_SSO_ALERT_SECRET: '\uFEFFhush \r\n' })
  expect(webhook?.secret).toBe('hush ')
  expect(() => settingsFrom({ ...given, OWNER_SSO_ALERT_SECRET: 'hush\0' })).toThrow(SettingsError)
})

it('ends with code 2 where it would be open to a network without TLS', () => {
  const { status, stderr } = spawnSync(process.execPath, [main], {
    env: { ...environment(), HOST: '0.0.0.0' },
    encoding: 'utf8',
    timeout: 60_000,
  })
  expect([status, stderr]).toEqual([2, expect.stringContaining('not of this machine alone')])
})

it('has a container that is small, without rights, read-only but for one volume, and looked after', () => {
  const dockerfile = textOf('Dockerfile')
  const stages = dockerfile.split(/^FROM /mu)
  const last = stages.at(-1) ?? ''
  // Versions are named, nothing is fetched where it runs, and the user is changed for good.
  expect(stages.slice(1).every((stage) => /^\S+:\d[\w.-]+-alpine(?: AS \w+)?\n/u.test(stage))).toBe(true)
  expect(last).not.toMatch(/npm install|apk add|ADD |curl|wget/u)
  expect(last.match(/^(?:USER|VOLUME|EXPOSE|CMD|HEALTHCHECK)\b.*$/gmu)).toEqual([
    'USER node',
    'VOLUME /data',
    'EXPOSE 8700',
    expect.stringMatching(/^HEALTHCHECK --interval=10s --timeout=3s CMD \["node", "--eval"/u),
    'CMD ["node", "dist/main.js"]',
  ])
  expect(textOf('Dockerfile.dockerignore')).toContain('**/node_modules')
  const { services, volumes } = parse(textOf('compose.yaml')) as {
    services: Record<'broker' | 'heating', Record<string, unknown>>
    volumes: object
  }
  for (const service of Object.values(services)) {
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
  }
  expect(services.broker).toMatchObject({ volumes: ['data:/data'], ports: ['127.0.0.1:8700:8700'] })
  expect(services.heating['ports']).toBeUndefined()
  expect(Object.keys(volumes)).toEqual(['data'])
  const fromCompose = Object.entries(services.broker['environment'] as Record<string, string>)
  const inImage = Object.fromEntries([...last.matchAll(/(\w+)=(\S+)/gu)].map(([, name, value]) => [name, value]))
  const given = Object.fromEntries(
    fromCompose.map(([name, value]) => [name, value.replace(/^\$\{\w+(?::-([^}]*)|:\?.*)\}$/u, '$1')]),
  )
  const settings = settingsFrom({ ...inImage, ...given, OWNER_SSO_AUTH_URL: 'https://auth.example.com' })
  expect(settings).toMatchObject({
    host: '0.0.0.0',
    port: 8700,
    store: 'file:/data/tokens',
    behindTlsProxy: true,
    hosts: ['broker'],
  })
})

it('has a health check that tells a broker from none', () => {
  expect(healthAt('1')).toBe(1)
})

const [, image = ''] = /^FROM (\S+)$/mu.exec(textOf('Dockerfile')) ?? []

if (hasContainerEngine(image)) {
  it('runs in its container, built from here: healthy, without rights, and in order to the end', async () => {
    const docker = async (...args: string[]): Promise<string> => {
      const child = spawn('docker', args, { stdio: ['ignore', 'pipe', 'inherit'] })
      children.push(child)
      const [said, [code]]: [string, unknown[]] = await Promise.all([text(child.stdout), once(child, 'exit')])
      expect([args[0], code]).toEqual([args[0], 0])
      return said.trim()
    }
    const root = fileURLToPath(new URL('../../..', import.meta.url))
    const built = await docker('build', '--quiet', '--file', join(root, 'apps/home-broker/Dockerfile'), root)
    const port = await freePort()
    // The emulator is of this machine alone, and so is the broker.
    const env = { PORT: port, HOST: '127.0.0.1', OWNER_SSO_AUTH_URL: emulator.authUrl }
    const variables = Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`])
    const guards = ['--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges:true']
    const id = await docker('run', '--detach', '--network', 'host', ...guards, '--volume', '/data', ...variables, built)
    try {
      const inside = (...args: string[]): Promise<string> =>
        docker('exec', '--env', 'OWNER_SSO_CREDENTIAL=correct horse', id, ...args)
      const stateOf = (what: string): Promise<string> => docker('inspect', '--format', `{{.State.${what}}}`, id)
      while ((await stateOf('Health.Status')) === 'starting') await pause(500)
      expect([await stateOf('Health.Status'), await inside('id', '-u')]).toEqual(['healthy', '1000'])
      await inside('owner-sso', 'login', '--account', account, '--no-input')
      const headers = { authorization: `Bearer ${await inside('owner-sso', 'broker', 'invite', 'heating')}` }
      const response = await fetch(`http://127.0.0.1:${port}/token`, { headers })
      expect([response.status, await response.text()]).toEqual([200, await inside('owner-sso', 'token')])
      await docker('stop', id)
      expect(await stateOf('ExitCode')).toBe('0')
    } finally {
      await docker('rm', '--force', '--volumes', id)
      await docker('image', 'rm', '--force', built)
    }
  }, 1_200_000)
}
