/** `owner-sso broker run`: programs that nobody changed, and that know only the service's own address. */
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readdirSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { notebook } from '@owner-sso/core'
import { useEmulator } from '@owner-sso/emulator/jest'
import { fileTokenStore } from '@owner-sso/token-store-file'
import { X509Certificate } from '@peculiar/x509'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { describeWithPrograms } from '../../../tests/support/programs.ts'
import { type CallOptions, type Ended, ended, type Machine, newMachine } from './machine.ts'

const account = 'plain@example.com'
const emulator = useEmulator({ tls: true, firewall: false })
const axios = dirname(createRequire(import.meta.url).resolve('axios/package.json'))
/** What trusts the emulator's own certificate, as a machine of a company trusts its own ones. */
let env: NodeJS.ProcessEnv
let machine: Machine
let virtual: string

beforeAll(async () => {
  machine = newMachine(emulator)
  const ca = machine.file('ca.pem', emulator.ca ?? '')
  env = {
    OWNER_SSO_CA: ca,
    NODE_EXTRA_CA_CERTS: ca,
    SSL_CERT_FILE: ca,
    AUTH: emulator.authUrl,
    API: emulator.ownerApiUrl,
  }
  await machine.signIn(account, { env })
  virtual = (await machine.run(['broker', 'invite', 'heating'], { env })).stdout.trim()
  env['TOKEN'] = virtual
})
afterAll(() => machine.remove())

function run(program: readonly string[], options: CallOptions & { flags?: readonly string[] } = {}): Promise<Ended> {
  const { flags = [], ...call } = options
  return machine.run(['broker', 'run', ...flags, '--', ...program], { ...call, env: { ...env, ...call.env } })
}

const leftBehind = (): string[] => {
  const place = join(machine.home, '.config/owner-sso/run')
  return existsSync(place) ? readdirSync(place) : []
}

const isRoot = process.getuid?.() === 0
if (!isRoot) console.warn('Skipped: a second user needs root (run the tests as root).')
const asRoot = isRoot || process.env['CI'] === 'true' ? describe : describe.skip

const node = (script: string): string[] => [process.execPath, '--input-type=module', '--eval', script]

const curl = `
tokens=$(curl -sS "$AUTH/oauth2/v3/token" -d grant_type=refresh_token -d client_id=ownerapi -d "refresh_token=$TOKEN")
access=$(echo "$tokens" | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
echo "$tokens"; env; cat "$SSL_CERT_FILE"
curl -sS -H "Authorization: Bearer $access" "$API/api/1/vehicles"`

const python = `
import json, os, ssl, urllib.request
strict = ssl.create_default_context()
strict.verify_flags |= ssl.VERIFY_X509_STRICT # as Python 3.13 does by itself
body = {"grant_type": "refresh_token", "client_id": "ownerapi", "refresh_token": os.environ["TOKEN"]}
url = os.environ["AUTH"] + "/oauth2/v3/token"
refresh = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
tokens = json.load(urllib.request.urlopen(refresh, context=strict))
call = urllib.request.Request(os.environ["API"] + "/api/1/vehicles")
call.add_header("authorization", "Bearer " + tokens["access_token"])
print(tokens, dict(os.environ), urllib.request.urlopen(call).read().decode())`

const javascript = (post: string, get: string): string[] =>
  node(`
const { AUTH, API, TOKEN: refresh_token } = process.env
const { default: axios } = await import(${JSON.stringify(`${axios}/index.js`)})
const body = { grant_type: 'refresh_token', client_id: 'ownerapi', refresh_token, scope: 'openid email offline_access' }
const tokens = ${post}
const headers = { authorization: 'Bearer ' + tokens.access_token }
console.log(tokens, process.env, ${get})`)

const throughAxios = javascript(
  `(await axios.post(AUTH + '/oauth2/v3/token', body)).data`,
  `JSON.stringify((await axios.get(API + '/api/1/vehicles', { headers })).data)`,
)
const throughFetch = javascript(
  `await (await fetch(AUTH + '/oauth2/v3/token',
    { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })).json()`,
  `await (await fetch(API + '/api/1/vehicles', { headers })).text()`,
)
const isHeededByFetch: boolean = process.allowedNodeEnvironmentFlags.has('--use-env-proxy')

describeWithPrograms('curl', 'python3')('owner-sso broker run', () => {
  it.each([
    ['curl', ['sh', '-c', curl]],
    ['Python’s standard library', ['python3', '-c', python]],
    ['axios', throughAxios],
    ...(isHeededByFetch ? [['fetch of Node', throughFetch] as const] : []),
  ])('refreshes for %s, which gets no token of the service’s but the access token', async (_, program) => {
    const { stdout: exported } = await machine.run(['export', '--plain-text-tokens'], { env })
    const [real = ''] = /(?<="refresh_token": ?")[^"]+/u.exec(exported) ?? []
    expect(real).not.toBe('')
    const before = emulator.requests.length
    const secret = Buffer.alloc(32, 7).toString('base64')
    const { code, stdout, stderr } = await run(program, { env: { OWNER_SSO_ALERT_SECRET: secret } })
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: expect.stringContaining('Daily'),
      stderr: expect.not.stringContaining('owner-sso'),
    })
    expect(stdout).toContain(virtual)
    for (const hidden of [real, secret, 'PRIVATE KEY']) expect(stdout).not.toContain(hidden)
    expect(emulator.requests.slice(before).map(({ path }) => path)).toEqual(['/api/1/vehicles'])
  })

  it('passes signals on to the program, ends with its exit code, and leaves no file behind', async () => {
    const signals = 'HUP INT QUIT USR1 USR2 ALRM WINCH ABRT IO PROF PWR VTALRM XCPU'
    const script = `
import { statSync } from 'node:fs'
for (const name of '${signals}'.split(' ')) process.on('SIG' + name, (signal) => console.log(signal))
process.on('SIGTERM', () => process.exit(9))
setInterval(() => undefined, 1000)
console.log((statSync(process.env.SSL_CERT_FILE).mode & 0o777).toString(8))`
    const child = machine.start(['broker', 'run', '--', ...node(script)], { env })
    const end = ended(child)
    const { stdout } = child
    if (stdout === null) throw new Error('It has no standard output.')
    const told = async (): Promise<string> => String((await once(stdout, 'data'))[0]).trim()
    expect(await told()).toBe('600')
    expect(leftBehind()).toHaveLength(1)
    for (const name of signals.split(' ')) {
      const signal = `SIG${name}` as NodeJS.Signals
      const answer = told()
      child.kill(signal)
      expect(await answer).toBe(signal)
    }
    child.kill('SIGTERM')
    expect((await end).code).toBe(9)
    expect((await run(['sh', '-c', 'kill -KILL $$'])).code).toBe(137)
    expect((await run(['sh', '-c', 'exit 7'])).code).toBe(7)
    expect(leftBehind()).toEqual([])
  })

  it('stands for a host that is written with a dot at its end, too', async () => {
    const { host } = new URL(emulator.regionalAuthUrl)
    const url = `https://${host.replace(':', '.:')}/oauth2/v3/token`
    const before = emulator.requests.length
    const { stdout } = await run(['sh', '-c', `curl -sS ${url} -d grant_type=refresh_token -d refresh_token=$TOKEN`])
    expect(stdout).toContain('"access_token"')
    expect(emulator.requests).toHaveLength(before)
  })

  it('prints nothing that a stranger sends, and keeps no connection that never finishes its request', async () => {
    const stranger = `
import os, socket, ssl, sys, time
port = int(os.environ["HTTPS_PROXY"].split(":")[2])
def connection(): return socket.create_connection(("127.0.0.1", port))
for number in range(30):
  with connection() as plain:
    plain.sendall(f"GET http://hush{number}.example/ HTTP/1.1\\r\\nhost: hush\\r\\n\\r\\n".encode())
    plain.recv(99)
host = os.environ["AUTH"].removeprefix("https://")
raw = connection()
raw.sendall(f"CONNECT {host} HTTP/1.1\\r\\nhost: {host}\\r\\n\\r\\n".encode())
raw.recv(999)
tls = ssl.create_default_context().wrap_socket(raw, server_hostname=host.split(":")[0])
tls.sendall(b"POST /oauth2/v3/token HTTP/1.1\\r\\n")
try:
  while True:
    tls.sendall(b"a: b\\r\\n")
    time.sleep(0.02)
except OSError: print("cut")`
    const hurry = machine.file(
      'hurry.cjs',
      'const wait = setTimeout; globalThis.setTimeout = (work, time, ...others) => wait(work, time / 100, ...others)',
    )
    const { stdout, stderr } = await run(['python3', '-c', stranger], { env: { NODE_OPTIONS: `--require ${hurry}` } })
    expect(stdout).toBe('cut\n')
    expect(stderr).toMatch(/^owner-sso: python3 sends https to others through a proxy without encryption[^\n]*\n$/u)
  })

  it('makes a certificate authority that is valid for the service’s hosts alone', async () => {
    const { stdout } = await run(['sh', '-c', 'cat "$NODE_EXTRA_CA_CERTS"'])
    const constraints = new X509Certificate(stdout.split(/(?<=-----END CERTIFICATE-----)/u)[0] ?? '').getExtension(
      '2.5.29.30',
    )
    expect(constraints?.critical).toBe(true)
    const names = Buffer.from(constraints?.value ?? new ArrayBuffer()).toString('latin1')
    expect(names).toContain('localhost')
    expect(names).toContain('\u007F\0\0\u0001\u00FF\u00FF\u00FF\u00FF')
  })

  it('leaves standard input to the program, in blocking mode', async () => {
    const looks = 'import os; print(os.get_blocking(0), input())'
    const { stdout } = await machine.run(['broker', 'run', '--', 'python3', '-c', looks], { env, input: 'here' })
    expect(stdout).toBe('True here\n')
  })

  it('tunnels calls of other hosts unchanged', async () => {
    const server = createServer((socket) => socket.once('data', (data) => socket.end(data))).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const echo = `curl -sS --http0.9 -p -x "$HTTPS_PROXY" -H 'A: b' http://127.0.0.1:${port}/here`
    const { stdout } = await run(['sh', '-c', echo])
    expect(stdout).toMatch(
      new RegExp(
        `^GET /here HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUser-Agent: [^\r]*\r\nAccept: [^\r]*\r\nA: b\r\n\r\n$`,
        'u',
      ),
    )
    server.close()
  })
})

asRoot('what a program trusts', () => {
  it('has files that no other user can make or replace, while it runs and when it outlives the command', async () => {
    // As homes often are.
    chmodSync(machine.home, 0o755)
    const stranger = { uid: 65_534, gid: 65_534, cwd: '/' }
    const tries = (file: string): number | null =>
      spawnSync('sh', ['-c', 'mkdir -p "$(dirname "$0")" && echo mine > "$0"', file], stranger).status
    const child = machine.start(['broker', 'run', '--', 'sh', '-c', 'echo "$SSL_CERT_FILE"; exec sleep 60'], { env })
    const [told]: unknown[] = child.stdout ? await once(child.stdout, 'data') : []
    const file = String(told).trim()
    const attempts = [tries(file)]
    child.kill('SIGTERM')
    await ended(child)
    expect(existsSync(file)).toBe(false)
    expect([...attempts, tries(file)]).not.toContain(0)
    chmodSync(machine.home, 0o700)
  })
})

describeWithPrograms('curl')('a sentence is told', () => {
  const refresh = (more = '', token = '$TOKEN'): string[] => [
    'sh',
    '-c',
    `curl -sS ${more} "$AUTH/oauth2/v3/token" -d grant_type=refresh_token -d "refresh_token=${token}"`,
  ]
  /** As a client does that has the service's certificate built in. */
  const pinned = node(`
import { readFileSync } from 'node:fs'
import { Agent } from 'node:https'
const { default: axios } = await import(${JSON.stringify(`${axios}/index.js`)})
const httpsAgent = new Agent({ ca: readFileSync(process.env.PINNED), maxVersion: 'TLSv1.2' })
await axios.post(process.env.AUTH + '/oauth2/v3/token', {}, { httpsAgent }).catch(({ code }) => console.log(code))`)
  /** As older versions of axios do. */
  const bare = node(`
import { request } from 'node:http'
const [{ hostname, port }, path] = [new URL(process.env.HTTPS_PROXY), process.env.AUTH + '/oauth2/v3/token']
request({ hostname, port, path, method: 'POST' }, ({ statusCode }) => console.log(statusCode)).end('{}')`)

  it.each<[string, string[], RegExp, object]>([
    ['ignores proxies', ['true', '--json'], /^owner-sso: true never asked through the proxy/u, { code: 0 }],
    [
      'asks others only',
      ['sh', '-c', 'curl -sS "$API"'],
      /never asked 127\S+, localhost\S+, but 127\S+\. .*--regional-auth-url/u,
      {},
    ],
    ['pins the certificate', refresh('--cacert ca.pem'), /ended its connection to 127.*pins/u, { code: 60 }],
    [
      'looks later at it',
      pinned,
      /ended its connection to 127.*pins/u,
      { stdout: expect.stringMatching(/SELF|VERIFY/u) },
    ],
    ['uses no tunnel', bare, /sends https to 127\S+ through a proxy without encryption/u, { stdout: '501\n' }],
    [
      'has another token',
      refresh('', 'hush'),
      /give it what owner-sso broker invite/u,
      { stdout: expect.stringContaining('invalid_grant') },
    ],
    [
      'wants to sign in',
      ['sh', '-c', 'curl -sS "$AUTH/oauth2/v3/authorize?login_hint=hush"'],
      /something else than a refresh/u,
      { stdout: expect.stringContaining('answers only refreshes') },
    ],
  ])('of a program that %s', async (_, program, sentence, outcome) => {
    const before = emulator.requests.length
    const result = await run(program, { env: { PINNED: env['OWNER_SSO_CA'] } })
    expect(result).toMatchObject(outcome)
    expect(result.stderr).toMatch(sentence)
    // Anywhere: the program may be writing to the same place.
    expect(result.stderr.match(/owner-sso: /gu)).toHaveLength(1)
    expect(result.stderr).not.toMatch(new RegExp(`hush|${virtual}`, 'u'))
    expect(emulator.requests.slice(before).filter(({ path }) => path.startsWith('/oauth2'))).toEqual([])
  })

  it('of programs that can’t be looked up, and the program is told to come again', async () => {
    const list = notebook(fileTokenStore({ path: machine.tokensFolder }), 'clients')
    const before = await list.read()
    await list.change(() => ({ clients: 'none' }))
    const { stdout, stderr } = await run(refresh())
    await list.change(() => before)
    expect([stdout, stderr]).toEqual([
      expect.stringContaining('temporarily_unavailable'),
      expect.stringMatching(/^owner-sso: ERR_BROKER_CLIENTS: The list of clients/u),
    ])
  })

  it.each<[string, string[], string, NodeJS.ProcessEnv?]>([
    ['no program', [], 'Name it: owner-sso broker run -- PROGRAM'],
    ['no name of one', ['--', ''], 'Name it: owner-sso broker run -- PROGRAM'],
    ['a file in the place of a folder', ['--', './ca.pem/program'], './ca.pem/program can’t be run (ENOTDIR)'],
    ['a program that is not there', ['--', 'no-such-program'], 'no-such-program can’t be run (ENOENT)'],
    ['a mistyped option', ['--audi', '--', 'true'], 'Did you mean --audit'],
    ['an address off loopback', ['--host', '0.0.0.0', '--', 'true'], 'takes no --host'],
    ['a proxy already', ['--', 'true'], 'https_proxy names a proxy already', { https_proxy: 'http://127.0.0.1:1' }],
    ['no https', ['--', 'true'], 'is no https address', { OWNER_SSO_AUTH_URL: 'http://127.0.0.1:1' }],
    [
      'no place for files',
      ['--', 'true'],
      'No folder can be made in /dev/null/owner-sso/run (ENOTDIR)',
      { XDG_CONFIG_HOME: '/dev/null', OWNER_SSO_STORE: 'memory:' },
    ],
    ['no such bundle', ['--', 'true'], 'which SSL_CERT_FILE names', { SSL_CERT_FILE: '/nowhere.pem' }],
  ])('where there is %s', async (_, args, sentence, variables = {}) => {
    const { code, stdout, stderr } = await machine.run(['broker', 'run', ...args], { env: { ...env, ...variables } })
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(sentence) })
    expect(stderr).not.toContain('never asked')
    expect(leftBehind()).toEqual([])
  })
})
